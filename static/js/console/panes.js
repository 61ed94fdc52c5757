// panes.js – widths of the panes, by pointer or arrow keys, remembered in this browser; sheets below 720 px.
const KEPT = "console-panes";
const STEP = 16;
const LIMITS = { list: { least: 200, usual: 292, most: 520 }, judge: { least: 280, usual: 372, most: 640 } };
const LEAST_CENTRE = 320;
const page = document.querySelector("[data-console]");
const wished = { list: LIMITS.list.usual, judge: LIMITS.judge.usual, ...kept() };
const widths = { ...wished };
const narrow = matchMedia("(max-width: 720px)");
let opener = null;

export function startPanes() {
  for (const splitter of document.querySelectorAll("[data-splitter]")) attach(splitter);
  fitAll();
  window.addEventListener("resize", fitAll);
  document.querySelector("[data-open-list]").addEventListener("click", (event) => openSheet("list", event.currentTarget));
  document.querySelector("[data-open-more]").addEventListener("click", (event) => openSheet("more", event.currentTarget));
  for (const button of document.querySelectorAll("[data-close-sheet]")) button.addEventListener("click", closeSheet);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && page.dataset.sheet && !document.querySelector("dialog[open]")) closeSheet();
  });
  narrow.addEventListener("change", closeSheet);
}

export const isNarrow = () => narrow.matches;

export function openSheet(name, button = null) {
  if (!narrow.matches) return;
  opener = button;
  page.dataset.sheet = name;
  button?.setAttribute("aria-expanded", "true");
  const sheet = document.querySelector(name === "list" ? "[data-list]" : "[data-more]");
  for (const other of others(sheet)) other.inert = true;
  (sheet.querySelector(name === "list" ? "[aria-current]" : "textarea") ?? sheet.querySelector("button")).focus();
}

export function closeSheet() {
  if (!page.dataset.sheet) return;
  delete page.dataset.sheet;
  for (const other of document.querySelectorAll("[inert]")) other.inert = false;
  opener?.setAttribute("aria-expanded", "false");
  opener?.focus();
}

// Everything that the sheet covers is out of reach of the keyboard while it is open.
function others(sheet) {
  const found = [];
  for (let at = sheet; at !== document.body; at = at.parentElement) {
    found.push(...[...at.parentElement.children].filter((each) => each !== at && !each.matches("dialog, script, [role=status]")));
  }
  return found;
}

function attach(splitter) {
  const name = splitter.dataset.splitter;
  // The right pane grows to the left.
  const direction = name === "list" ? 1 : -1;
  splitter.addEventListener("keydown", (event) => {
    const by = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key];
    if (by) set(name, widths[name] + by * direction);
    else if (event.key === "Home") set(name, LIMITS[name].least);
    else if (event.key === "End") set(name, most(name));
    else if (event.key === "Enter") set(name, LIMITS[name].usual);
    else return;
    event.preventDefault();
    keep();
  });
  splitter.addEventListener("dblclick", () => {
    set(name, LIMITS[name].usual);
    keep();
  });
  splitter.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    splitter.focus();
    splitter.setPointerCapture(event.pointerId);
    // A frame under the pointer would swallow its movement.
    page.toggleAttribute("data-drags", true);
    const from = { x: event.clientX, width: widths[name] };
    const move = (moved) => set(name, from.width + (moved.clientX - from.x) * direction);
    const end = () => {
      splitter.removeEventListener("pointermove", move);
      page.removeAttribute("data-drags");
      keep();
    };
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("lostpointercapture", end, { once: true });
  });
}

function set(name, width) {
  const value = Math.round(Math.max(LIMITS[name].least, Math.min(most(name), width)));
  widths[name] = value;
  page.style.setProperty(`--${name}-width`, `${value}px`);
  const splitter = document.querySelector(`[data-splitter="${name}"]`);
  splitter.setAttribute("aria-valuenow", value);
  splitter.setAttribute("aria-valuemin", LIMITS[name].least);
  splitter.setAttribute("aria-valuemax", most(name));
  splitter.setAttribute("aria-valuetext", `${value} pixels`);
}

// A smaller window narrows the panes for as long as it is small, and changes no wish.
function fitAll() {
  for (const name of Object.keys(widths)) set(name, wished[name]);
}

function most(name) {
  const other = name === "list" ? widths.judge : widths.list;
  return Math.max(LIMITS[name].least, Math.min(LIMITS[name].most, window.innerWidth - other - LEAST_CENTRE));
}

function keep() {
  Object.assign(wished, widths);
  localStorage.setItem(KEPT, JSON.stringify(wished));
}

function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return Object.fromEntries(Object.entries(found).filter(([name, width]) => name in LIMITS && Number.isFinite(width)));
  } catch {
    return {};
  }
}
