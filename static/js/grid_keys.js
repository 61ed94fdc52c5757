// grid_keys.js – arrow keys walk the grid of trials; a row that gets the focus, or a click, is shown as a graph.
const SELECT_MS = 250;
let timer = 0;

const links = (row) => [...row.querySelectorAll("a")];

document.addEventListener("keydown", (event) => {
  const row = event.target.closest?.("[data-grid-keys] [data-row]");
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
  const place = links(row).indexOf(event.target.closest("a"));
  const next = {
    ArrowRight: () => links(row)[place + 1],
    ArrowLeft: () => links(row)[place - 1],
    ArrowDown: () => beside(row.nextElementSibling, place),
    ArrowUp: () => beside(row.previousElementSibling, place),
  }[event.key]?.();
  if (!next) return;
  event.preventDefault();
  next.focus();
});

function beside(row, place) {
  if (!row) return null;
  const all = links(row);
  return all[Math.min(Math.max(place, 0), all.length - 1)];
}

function select(row) {
  if (row.getAttribute("aria-selected") === "true") return;
  const query = row.dataset.select;
  history.replaceState(null, "", query);
  htmx.ajax("GET", `${query}&part=summary`, { target: "#summary", swap: "morph:outerHTML" });
}

document.addEventListener("focusin", (event) => {
  const row = event.target.closest?.("[data-grid-keys] [data-row]");
  if (!row) return;
  clearTimeout(timer);
  timer = setTimeout(() => row.isConnected && row.contains(document.activeElement) && select(row), SELECT_MS);
});

document.addEventListener("click", (event) => {
  const row = event.target.closest?.("[data-grid-keys] [data-row]");
  if (row && !event.target.closest("a")) select(row);
});
