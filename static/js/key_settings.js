// key_settings.js – the button Press takes the next key, or the next two within a moment, and sets it.
// Escape and Tab leave without a change.
const CHORD_MS = 700;
const said = document.querySelector("[data-press-said]");
let stop = () => {};

for (const form of document.querySelectorAll("[data-key-form]")) {
  const button = form.querySelector("[data-press-key]");
  button.hidden = false;
  button.addEventListener("click", () => listen(form, button));
}

function listen(form, button) {
  stop();
  const words = button.innerHTML;
  const strokes = [];
  let timer = 0;
  button.textContent = "Press a key";
  button.setAttribute("aria-pressed", "true");
  said.textContent = "Press the new key, or Escape to leave it.";
  const taken = (event) => {
    if (["Shift", "Control", "Alt", "Meta", "CapsLock"].includes(event.key)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" || event.key === "Tab") return stop();
    event.preventDefault();
    event.stopImmediatePropagation();
    strokes.push(event.key === " " ? "Space" : event.key);
    clearTimeout(timer);
    if (strokes.length === 2) return set();
    timer = setTimeout(set, CHORD_MS);
  };
  const set = () => {
    form.elements.key.value = strokes.join(" ");
    stop();
    form.requestSubmit(form.querySelector("button[value=set]"));
  };
  stop = () => {
    clearTimeout(timer);
    document.removeEventListener("keydown", taken, true);
    button.innerHTML = words;
    button.removeAttribute("aria-pressed");
    said.textContent = "";
    stop = () => {};
  };
  // Captured, so that the key does not do here what it does elsewhere.
  document.addEventListener("keydown", taken, true);
}
