const state = { year: 2025, type: "", query: "", key: "score", direction: -1, open: null };
const data = { rooms: [], indicators: [], years: [], types: [], figures: new Map() };
const $ = (id) => document.getElementById(id);
const escapeHtml = (text) =>
  String(text).replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]);
const shown = (score) => (score === null ? "n/a" : score.toFixed(1));

async function load() {
  const [rooms, scores] = await Promise.all([
    fetch("data/rooms.json").then((r) => r.json()),
    fetch("data/scores.csv").then((r) => r.text()),
  ]);
  Object.assign(data, { rooms: rooms.rooms, indicators: rooms.indicators, years: rooms.years, types: rooms.types });
  const [head, ...lines] = scores.trim().split("\n").map((line) => line.split(","));
  for (const line of lines) {
    const row = Object.fromEntries(head.map((name, i) => [name, line[i]]));
    data.figures.set(`${row.room} ${row.year}`, row);
  }
}

function figure(room, year, key) {
  const text = data.figures.get(`${room.id} ${year}`)?.[key] ?? "";
  return Number(text) || 0;
}

function scoreOf(room, year) {
  const values = data.indicators.map(({ key }) => figure(room, year, key));
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function ranked() {
  const scored = data.rooms.map((room) => ({ ...room, score: scoreOf(room, state.year) }));
  const order = scored.filter((r) => r.score !== null).sort((a, b) => b.score - a.score);
  order.forEach((room, i) => { room.rank = i + 1; });
  return scored;
}

function visibleRooms() {
  const query = new RegExp(state.query.trim(), "i");
  const { key, direction } = state;
  return ranked()
    .filter((room) => !state.type || room.type === state.type)
    .filter((room) => query.test(room.name))
    .sort((a, b) => {
      if (key !== "score") return direction * a[key].localeCompare(b[key]) || a.name.localeCompare(b.name);
      if (a.score === null || b.score === null) return (a.score === null) - (b.score === null);
      return direction * (a.score - b.score);
    });
}

function render() {
  const rooms = visibleRooms();
  const scored = rooms.filter((room) => room.score !== null);
  const mean = scored.reduce((sum, room) => sum + room.score, 0) / scored.length;
  $("summary").innerHTML = `<b>${rooms.length}</b> of ${data.rooms.length} rooms` +
    (scored.length ? `, mean score <b>${mean.toFixed(1)}</b>` : "");
  $("chart-year").textContent = state.year;
  $("rows").innerHTML = rooms.map(row).join("");
  $("nothing").hidden = rooms.length > 0;
  document.querySelector("table").hidden = rooms.length === 0;
  for (const th of document.querySelectorAll("th[data-sort]")) {
    if (th.dataset.sort === state.key) th.setAttribute("aria-sort", state.direction > 0 ? "ascending" : "descending");
    else th.removeAttribute("aria-sort");
  }
  $("chart").innerHTML = chart(scored);
  $("tooltip").hidden = true;
}

function row(room) {
  return `<tr data-room="${room.id}">
    <td class="num">${room.rank ?? "–"}</td>
    <td><button type="button" class="room">${escapeHtml(room.name)}</button></td>
    <td>${escapeHtml(room.town)}</td>
    <td class="${room.type.toLowerCase()}"><span class="dot"></span><span class="label">${room.type}</span></td>
    <td class="num ${room.score === null ? "none" : "score"}">${shown(room.score)}</td>
  </tr>`;
}

function chart(rooms) {
  const left = 140, width = 420, line = 29, right = 40;
  const height = rooms.length * line + 26;
  const x = (value) => left + (value / 100) * (width - left - right);
  const ticks = [0, 25, 50, 75, 100].map((t) =>
    `<line x1="${x(t)}" x2="${x(t)}" y1="0" y2="${height - 22}"/><text class="tick" x="${x(t)}" y="${height - 6}" text-anchor="middle">${t}</text>`);
  const bars = rooms.map((room, i) => `
    <g class="bar ${room.type.toLowerCase()}" role="img" data-room="${room.id}" aria-label="${escapeHtml(room.name)}: ${shown(room.score)}">
      <rect class="hit" x="0" y="${i * line}" width="${width}" height="${line}"/>
      <text x="${left - 12}" y="${i * line + 19}" text-anchor="end">${escapeHtml(room.name)}</text>
      <rect class="mark" x="${left}" y="${i * line + 6}" width="${x(room.score) - left}" height="${line - 12}" rx="2"/>
      <text class="value" x="${x(room.score) + 7}" y="${i * line + 19}">${shown(room.score)}</text>
    </g>`);
  return `<svg viewBox="0 0 ${width} ${height}" role="group" aria-label="Scores of the rooms">${ticks.join("")}${bars.join("")}</svg>`;
}

function showTooltip(bar) {
  const room = ranked().find((r) => r.id === bar.dataset.room);
  const tip = $("tooltip");
  tip.innerHTML = `<b>${escapeHtml(room.name)}</b>, ${escapeHtml(room.town)}<br>Score ${shown(room.score)}, rank ${room.rank}`;
  tip.hidden = false;
  const mark = bar.querySelector(".mark").getBoundingClientRect();
  const frame = $("chart").getBoundingClientRect();
  const half = tip.offsetWidth / 2;
  const middle = mark.left - frame.left + mark.width / 2;
  tip.style.left = `${Math.min(Math.max(middle, half), frame.width - half)}px`;
  tip.style.top = `${mark.top - frame.top - 6}px`;
}

function openPanel(id) {
  const room = ranked().find((r) => r.id === id);
  state.open = id;
  const figures = data.indicators.map(({ key, name }) => {
    const value = figure(room, state.year, key);
    return `<div class="figure"><dt>${name}</dt><dd>${value ?? "no figure"}</dd>
      <div class="track"><i style="width:${value ?? 0}%"></i></div></div>`;
  });
  const years = data.years.map((year) =>
    `<li${year === state.year ? ' aria-current="true"' : ""}>${year}<b>${shown(scoreOf(room, year))}</b></li>`);
  $("panel").innerHTML = `
    <header><h2 id="panel-title">${escapeHtml(room.name)}</h2><button type="button" class="quiet" id="close">Close</button></header>
    <p class="where">${escapeHtml(room.town)}, ${room.type.toLowerCase()}, ${room.seats} seats, opened ${room.opened}</p>
    <p class="big">${shown(room.score)} <small>${room.rank ? `rank ${room.rank} in ${state.year}` : `no score in ${state.year}`}</small></p>
    <h3>Indicators</h3><dl>${figures.join("")}</dl>
    <h3>Score by year</h3><ul class="years">${years.join("")}</ul>`;
  $("panel").hidden = false;
  $("close").focus();
}

function closePanel() {
  if (!state.open) return;
  $("panel").hidden = true;
  document.querySelector(`tr[data-room="${state.open}"] .room`)?.focus();
  state.open = null;
}

function fillControls() {
  $("year").innerHTML = data.years.map((y) => `<option>${y}</option>`).reverse().join("");
  $("type").innerHTML = `<option value="">All types</option>` + data.types.map((t) => `<option>${t}</option>`).join("");
  $("legend").innerHTML = data.types
    .map((t) => `<li class="${t.toLowerCase()}"><span class="dot"></span><span style="color:var(--ink)">${t}</span></li>`).join("");
}

function syncControls() {
  $("year").value = state.year;
  $("type").value = state.type;
  $("search").value = state.query;
}

function connectControls() {
  $("search").addEventListener("input", (e) => { state.query = e.target.value; render(); });
  $("type").addEventListener("change", (e) => { state.type = e.target.value; render(); });
  $("year").addEventListener("change", (e) => { state.year = Number(e.target.value); render(); });
  $("controls").addEventListener("submit", (e) => e.preventDefault());
  $("clear").addEventListener("click", () => {
    Object.assign(state, { type: "", query: "" });
    syncControls();
    render();
  });
  document.querySelector("thead").addEventListener("click", (e) => {
    const key = e.target.closest("th")?.dataset.sort;
    if (!key) return;
    if (state.key === key) state.direction *= -1;
    else Object.assign(state, { key, direction: key === "score" ? -1 : 1 });
    render();
  });
  $("rows").addEventListener("click", (e) => {
    const tr = e.target.closest("tr");
    if (tr) openPanel(tr.dataset.room);
  });
  $("chart").addEventListener("pointerover", (e) => {
    const bar = e.target.closest(".bar");
    if (bar) showTooltip(bar);
  });
  $("chart").addEventListener("click", (e) => {
    const bar = e.target.closest(".bar");
    if (bar) openPanel(bar.dataset.room);
  });
  $("panel").addEventListener("click", (e) => { if (e.target.id === "close") closePanel(); });
}

await load();
fillControls();
syncControls();
connectControls();
render();
$("main").hidden = false;
