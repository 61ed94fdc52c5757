// preview_frame.js – shows whether keys go to the framed application, and takes them back.
const words = (pane) => pane.querySelector("[data-focus-words]");

function show() {
  const pane = document.querySelector("[data-preview]");
  const frame = pane?.querySelector("[data-frame]");
  if (!frame) return;
  const isInside = document.activeElement === frame;
  pane.toggleAttribute("data-keys-inside", isInside);
  const text = isInside ? "Keys go to the app" : "Keys stay here";
  if (words(pane).textContent !== text) words(pane).textContent = text;
  pane.querySelector("[data-take-back]").hidden = !isInside;
}

function takeBack() {
  const frame = document.querySelector("[data-frame]");
  if (document.activeElement !== frame) return;
  frame.blur();
  window.focus();
  show();
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-take-back]")) takeBack();
  if (event.target.closest("[data-reload-frame]")) {
    const frame = document.querySelector("[data-frame]");
    frame.src = frame.getAttribute("src");
  }
});

// Leaving the frame with the pointer gives the keys back to this page.
document.addEventListener("pointerover", (event) => {
  if (event.target instanceof Element && !event.target.closest("[data-frame]")) takeBack();
});

// No event says that a frame took the focus, except that this window lost it.
window.addEventListener("blur", () => setTimeout(show, 0));
window.addEventListener("focus", show);
document.addEventListener("focusin", show);
show();
