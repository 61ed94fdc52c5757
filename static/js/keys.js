// keys.js – a key presses the control that carries its act: data-key="go-runs". Which key that is,
// each person chooses; the page brings the choice along. A data-key that names no act is the key itself.
// Next and previous row walk [data-row] elements, Enter opens the one in focus. Off by one switch.
const CHORD_MS = 700;
const mine = JSON.parse(document.querySelector("meta[name=keymap]")?.content ?? '{"keys": {}, "on": true}');
let lead = "";
let leadTimer = 0;

const keysAreOn = () => mine.on && localStorage.getItem("keys") !== "off";
const keyOf = (act) => mine.keys[act] ?? act;
const strokeOf = (event) => (event.key === " " ? "Space" : event.key);
const root = document.documentElement;

function isTyping(target) {
  return target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
}

function press(control) {
  if (control.matches("input, textarea, select, [data-key-focuses]")) {
    control.focus();
    control.select?.();
    return;
  }
  control.click();
}

function controls() {
  const scope = document.querySelector("dialog[open]") ?? document;
  return [...scope.querySelectorAll("[data-key]")];
}

function controlFor(sequence) {
  return controls().find((control) => keyOf(control.dataset.key) === sequence && !control.disabled);
}

const PAGE_ACTS = ["next-row", "previous-row", "tick-row", "copy-address", "next-view"];
const beginsChord = (stroke) =>
  [...controls().map((control) => control.dataset.key), ...PAGE_ACTS].some((act) => keyOf(act).startsWith(`${stroke} `));

function rows() {
  return [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());
}

function focusable(row) {
  return row.matches("a, button, [tabindex]") ? row : row.querySelector("a, button, [tabindex]");
}

function walk(step) {
  const all = rows();
  if (!all.length) return false;
  const here = all.findIndex((row) => row.contains(document.activeElement));
  const start = here < 0 ? all.findIndex((row) => row.matches("[aria-selected=true], [aria-current]")) : here;
  const next = all[Math.min(all.length - 1, Math.max(0, start < 0 ? 0 : start + step))];
  focusable(next)?.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function tick() {
  const box = document.activeElement?.closest("[data-row]")?.querySelector("input[type=checkbox]");
  box?.click();
  return Boolean(box);
}

function act(sequence) {
  const control = controlFor(sequence);
  if (control) press(control);
  if (control || document.querySelector("dialog[open]")) return Boolean(control);
  return actOfRows(sequence) || actOfPage(sequence);
}

function actOfRows(sequence) {
  if (sequence === keyOf("next-row")) return walk(1);
  if (sequence === keyOf("previous-row")) return walk(-1);
  return sequence === keyOf("tick-row") && tick();
}

function actOfPage(sequence) {
  if (sequence === keyOf("copy-address")) navigator.clipboard?.writeText(location.href);
  const cycle = [...document.querySelectorAll("[data-cycle]")].find((each) => keyOf(each.dataset.cycle) === sequence);
  if (!cycle) return false;
  const links = [...cycle.querySelectorAll("a")];
  const at = links.findIndex((link) => link.matches("[aria-current]"));
  links[(at + 1) % links.length].click();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (!keysAreOn()) return;
  const stroke = strokeOf(event);
  const sequence = lead ? `${lead} ${stroke}` : stroke;
  if (stroke === "Space" && event.target.closest?.("a, button, summary, [role=log]:not([data-key])") && event.target !== document.body) return;
  lead = "";
  clearTimeout(leadTimer);
  // A key that also begins a chord (g, g r) waits for the second key before it acts alone.
  if (!sequence.includes(" ") && !document.querySelector("dialog[open]") && beginsChord(stroke)) {
    lead = stroke;
    leadTimer = setTimeout(() => {
      lead = "";
      act(sequence);
    }, CHORD_MS);
    return;
  }
  if (act(sequence)) event.preventDefault();
});

for (const button of document.querySelectorAll("[data-theme-switch]")) {
  button.addEventListener("click", () => {
    const shown = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = shown === "dark" ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
}

for (const box of document.querySelectorAll("[data-keys-switch]")) {
  box.checked = keysAreOn();
  box.addEventListener("change", () => localStorage.setItem("keys", box.checked ? "on" : "off"));
}

// A menu closes when the reader goes elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("htmx:afterRequest", (event) => {
  const row = event.target.closest?.("a[data-row]");
  if (!row) return;
  for (const other of document.querySelectorAll("a[data-row][aria-current]")) other.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
});
