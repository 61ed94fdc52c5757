// keymap.js – a key clicks the control that does it, unless somebody types, a dialog is open, or a modifier is held.
import { bus, tell } from "./bus.js";

// Held down, these go on; a mark must not run through the list because a finger rests on its key.
const REPEATS = new Set(["next", "previous"]);
const preferences = JSON.parse(document.getElementById("key-preferences").textContent);
// The person's own keys of this page, each with one meaning: the page of key settings sees to that.
const keyOf = preferences.keys;
const actOf = new Map(Object.entries(keyOf).map(([act, key]) => [key, act]));

export const keysAreOn = () => preferences.is_on && localStorage.getItem("keys") !== "off";

export function keyFor(act) {
  const key = keyOf[act];
  return key && actOf.get(key) === act ? key : "";
}

export function words(key) {
  return key.length === 1 && key !== key.toLowerCase() ? `⇧${key}` : key;
}

export function act(name) {
  const all = [...document.querySelectorAll(`[data-act="${CSS.escape(name)}"]`)].filter((each) => !each.disabled);
  const control = all.find((each) => each.checkVisibility()) ?? all[0];
  control?.click();
  return Boolean(control);
}

// Writes each key on its control; a control without a key keeps no empty box.
export function printKeys(root = document) {
  for (const box of root.querySelectorAll("[data-key-of]")) {
    const key = keyFor(box.dataset.keyOf);
    box.textContent = words(key);
    box.hidden = !key || !keysAreOn();
  }
  for (const control of root.querySelectorAll("[data-act]")) {
    const key = keyFor(control.dataset.act);
    if (key && keysAreOn()) control.setAttribute("aria-keyshortcuts", key.length === 1 && key !== key.toLowerCase() ? `Shift+${key}` : key);
    else control.removeAttribute("aria-keyshortcuts");
  }
}

export function listenForKeys() {
  printKeys();
  // Before the keys of all pages, which leave alone what was taken here.
  document.addEventListener("keydown", pressed, { capture: true });
  document.addEventListener("change", (event) => event.target.matches("[data-keys-switch]") && setTimeout(printKeys));
  bus.addEventListener("controls", () => printKeys());
  // While the application has the keys, those printed here do nothing: they pale.
  for (const name of ["focusin", "focusout"]) document.addEventListener(name, paleKeys);
  for (const name of ["blur", "focus"]) window.addEventListener(name, () => setTimeout(paleKeys));
}

function paleKeys() {
  const isElsewhere = document.activeElement?.tagName === "IFRAME";
  if (isElsewhere) document.documentElement.dataset.keys = "elsewhere";
  else delete document.documentElement.dataset.keys;
}

function pressed(event) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!keysAreOn() || isTyping(event.target) || document.querySelector("dialog[open], [popover]:popover-open")) return;
  const name = actOf.get(letter(event));
  if (!name || (event.repeat && !REPEATS.has(name))) return;
  if (act(name)) {
    event.preventDefault();
    tell("activity");
  }
}

// With Caps Lock, or a layout of other letters, the place on the keyboard still says which key it is.
function letter(event) {
  const key = /^Key[A-Z]$/.test(event.code) && !/^[a-z]$/i.test(event.key) && event.key.length === 1 && event.key.charCodeAt(0) > 127
    ? event.code.slice(3)
    : event.key;
  if (key === " ") return "Space";
  if (!/^[a-z]$/i.test(key)) return key;
  return event.shiftKey ? key.toUpperCase() : key.toLowerCase();
}

function isTyping(target) {
  return Boolean(target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]"));
}
