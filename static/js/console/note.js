// note.js – keeps the note of the outcome in hand while it is being typed.
import { change, isOpen, set, shown, sight } from "./state.js";
import { drawSaved, fit } from "./view.js";

const PAUSE_MS = 1200;
const box = document.querySelector("[data-note]");
let timer = 0;
let seen = null;

export function startNote() {
  box.addEventListener("input", () => {
    fit(box);
    if (!isOpen()) return;
    if (!box.hasAttribute("data-dirty")) seen = sight(Number(box.dataset.of));
    box.toggleAttribute("data-dirty", true);
    drawSaved();
    clearTimeout(timer);
    timer = setTimeout(saveNote, PAUSE_MS);
  });
  box.addEventListener("blur", saveNote);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    box.blur();
    event.stopPropagation();
  });
}

// Written down at a pause, on leaving the field, and before anything else happens to the outcome.
export function saveNote() {
  clearTimeout(timer);
  if (!box.hasAttribute("data-dirty")) return;
  box.removeAttribute("data-dirty");
  const id = Number(box.dataset.of);
  if (box.value !== (shown(id).note ?? "")) change(id, { change: "note", note: box.value }, seen);
  else if (id === set.current) drawSaved();
}
