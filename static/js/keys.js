// keys.js – a key presses the control that carries it: data-key="m", data-key="g r", data-key="/".
// j and k walk [data-row] elements, Enter opens the one in focus, x ticks its box. Off by one switch.
const CHORD_MS = 700;
let lead = "";
let leadTimer = 0;

const keysAreOn = () => localStorage.getItem("keys") !== "off";
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

function controlFor(sequence) {
  const scope = document.querySelector("dialog[open]") ?? document;
  return [...scope.querySelectorAll(`[data-key="${CSS.escape(sequence)}"]`)].find((control) => !control.disabled);
}

const beginsChord = (key) => key !== " " && document.querySelector(`[data-key^="${CSS.escape(key)} "]`);

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

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (!keysAreOn()) return;
  const sequence = lead ? `${lead} ${event.key}` : event.key;
  if (event.key === " " && event.target.closest?.("a, button, summary, [role=log]:not([data-key])") && event.target !== document.body) return;
  const control = controlFor(sequence);
  lead = "";
  clearTimeout(leadTimer);
  // A key that also begins a chord (g, g r) waits for the second key before it acts alone.
  if (!sequence.includes(" ") && !document.querySelector("dialog[open]") && beginsChord(event.key)) {
    lead = event.key;
    leadTimer = setTimeout(() => {
      lead = "";
      if (control) press(control);
    }, CHORD_MS);
    return;
  }
  if (control) {
    event.preventDefault();
    press(control);
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  const done = event.key === "j" ? walk(1) : event.key === "k" ? walk(-1) : event.key === "x" ? tick() : false;
  if (done) event.preventDefault();
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

// v goes to the next view; y copies the address.
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !keysAreOn()) return;
  if (event.key === "y") navigator.clipboard?.writeText(location.href);
  const cycle = document.querySelector(`[data-cycle="${CSS.escape(event.key)}"]`);
  if (!cycle) return;
  const links = [...cycle.querySelectorAll("a")];
  const at = links.findIndex((link) => link.matches("[aria-current]"));
  links[(at + 1) % links.length].click();
});
document.addEventListener("htmx:afterRequest", (event) => {
  const row = event.target.closest?.("a[data-row]");
  if (!row) return;
  for (const other of document.querySelectorAll("a[data-row][aria-current]")) other.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
});
