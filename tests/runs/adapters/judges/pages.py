"""Pages that the step language is tried out on."""

from __future__ import annotations

from tests.runs.adapters.judges.conftest import Page

_SHOP = """
<h1 style="color: red">Our shop</h1>
<p><span data-testid="cart-count">0 items</span> <img alt="A tea pot" width=20 height=20> <b title="Help">?</b>
<table><tbody>
<tr><td>Cup<td>12.50<tr><td>Pot<td>$1,234.50<tr><td>Spoon<td>9
</tbody></table>
<button id="add">Add</button> <button id="pay" disabled>Pay</button>
<button id="secret" hidden>Secret</button>
<ul><li>shown<li hidden>hidden</ul>
<script>
let count = 0;
document.querySelector("#add").onclick = () => setTimeout(() => {
  document.querySelector("[data-testid=cart-count]").textContent = `${++count} items`;
  document.querySelector("tbody").insertRow().innerHTML = "<td>New<td>1";
}, 30);
</script>"""

_FORM = """
<label>Name <input placeholder="Your name" name="name"></label>
<label>Search <input name="search" onkeydown="keys.textContent = Number(keys.textContent) + 1"></label>
<output id="keys">0</output>
<label><input type="checkbox"> News</label>
<input type="checkbox" id="styled" style="display:none"><label for="styled">Styled</label>
<label>Sort <select><option value="name">By name<option value="price">By price</select></label>
<label>File <input type="file" id="chosen"></label>
<button onclick="hidden_file.click()">Import</button><input type="file" id="hidden_file" hidden>
<output id="file"></output>
<script>
for (const input of document.querySelectorAll("input[type=file]"))
  input.onchange = () => { document.querySelector("#file").textContent = `${input.files[0].name} ${input.files[0].size}`; };
</script>"""

_POINTER = """
<div id="pad" style="position:absolute;left:0;top:0;width:200px;height:100px;background:#ddd"></div>
<p id="seen" style="margin-top:150px"></p><p id="at"></p>
<script>
const pad = document.querySelector("#pad"), seen = document.querySelector("#seen");
pad.ondblclick = () => { seen.textContent += " dblclick"; };
pad.onauxclick = e => { seen.textContent += e.button === 2 && e.shiftKey ? " right+shift" : " other"; };
pad.onmousemove = e => { document.querySelector("#at").textContent = `${e.offsetX},${e.offsetY}`; };
</script>"""

_DRAG = """
<div id="piece" draggable="true" style="width:60px;height:60px;background:#88f">piece</div>
<div id="goal" style="width:200px;height:120px;background:#ddd">goal</div>
<script>
const goal = document.querySelector("#goal");
document.querySelector("#piece").ondragstart = e => e.dataTransfer.setData("text", "piece");
goal.ondragover = e => e.preventDefault();
goal.ondrop = e => { e.preventDefault(); goal.textContent = `dropped ${e.dataTransfer.getData("text")}`; };
</script>"""

_CHART = """
<canvas width="100" height="50"></canvas><button>More</button>
<script>
const pen = document.querySelector("canvas").getContext("2d");
pen.fillRect(0, 0, 20, 50);
document.querySelector("button").onclick = () => pen.fillRect(0, 0, 80, 50);
</script>"""

_OFFLINE = """
<button>Ask</button><p id="net"></p>
<script>
document.querySelector("button").onclick = async () => {
  let said = "offline";
  try { await fetch("/shop?" + Math.random()); said = "online"; } catch {}
  document.querySelector("#net").textContent = said;
};
</script>"""

PAGES: dict[str, Page] = {
    "/shop": _SHOP,
    "/form": _FORM,
    "/frame": '<iframe src="/shop" width="600" height="300"></iframe>',
    "/wide": '<div style="width:900px;position:absolute;left:0">wide</div>',
    "/late": """<p id="late"></p><p id="gone">gone soon</p><script>setTimeout(() => {
        late.textContent = "here"; gone.remove(); }, 250)</script>""",
    "/popup": '<a href="/form" target="_blank">Open</a>',
    "/covered": """<button>Save</button>
        <div style="position:fixed;inset:0;background:#0008">Please wait</div>""",
    "/pointer": _POINTER,
    "/drag": _DRAG,
    "/tall": '<h1>Top</h1><div style="height:4000px"></div><p id="end">The end</p>',
    "/dialogs": """<button id="confirm" onclick="said.textContent = confirm('Sure?')">Ask</button>
        <button id="prompt" onclick="said.textContent = prompt('Name?')">Name</button><p id="said"></p>""",
    "/offline": _OFFLINE,
    "/chart": _CHART,
    "/list": """<ul><li><b class="name">Ada</b> <i class="price">$1,000</i><li><b class="name">Bob</b>
        <i class="price">$200</i><li><b class="name">Cem</b> <i class="price">$30</i></ul>""",
    "/twice": "<ul><li>Ada<li>Bob<li>Ada</ul>",
    "/noisy": """<p>Something broke.</p><script>console.error("it broke"); setTimeout(() => { throw new Error("late") })</script>""",
    "/download": '<a href="/list.csv" download="list.csv">Export</a>',
}

SCRIPT_OF_DOWNLOAD: Page = (200, {"Content-Type": "text/csv"}, b"name\nAda\nBob\n")
