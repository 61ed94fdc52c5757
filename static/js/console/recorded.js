// recorded.js – shows what was recorded of the outcome in hand, and the files of the candidate.
import { hear } from "./bus.js";

async function part(address) {
  const answer = await fetch(address, { redirect: "manual" });
  if (!answer.ok) throw new Error(String(answer.status));
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  return [...parsed.body.childNodes];
}

async function fill(place, address) {
  place.dataset.wanted = address;
  place.setAttribute("aria-busy", "true");
  try {
    const nodes = await part(address);
    // Somebody may have gone on to another outcome meanwhile.
    if (place.dataset.wanted === address) place.replaceChildren(...nodes);
  } catch {
    if (place.dataset.wanted === address) refuse(place, address);
  } finally {
    if (place.dataset.wanted === address) place.removeAttribute("aria-busy");
  }
}

function refuse(place, address) {
  const words = document.createElement("p");
  words.className = "muted";
  words.textContent = "This could not be read from the site. ";
  const again = document.createElement("button");
  Object.assign(again, { type: "button", className: "btn btn--small", textContent: "Try again" });
  again.addEventListener("click", () => fill(place, address));
  place.replaceChildren(words, again);
}

export function showRecorded(place, base) {
  hear("outcome", ({ annotation }) => {
    const address = `${base}${annotation.id}/`;
    if (place.dataset.wanted === address) return;
    place.scrollTop = 0;
    fill(place, address);
  });
}

export function showFiles(root) {
  const list = root.querySelector("[data-files-list]");
  const text = root.querySelector("[data-files-text]");
  const filter = root.querySelector("[data-files-filter]");
  showRecorded(root.querySelector("[data-files-recorded]"), root.dataset.recordedBase);
  fill(list, root.dataset.base);
  list.addEventListener("click", (event) => {
    const file = event.target.closest("[data-file]");
    if (event.target.closest("[data-files-clear]")) {
      filter.value = "";
      sift(list, "");
      filter.focus();
    }
    if (!file) return;
    for (const other of list.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
    file.setAttribute("aria-current", "true");
    text.scrollTop = 0;
    fill(text, file.dataset.file);
  });
  filter.addEventListener("input", () => sift(list, filter.value));
}

function sift(list, words) {
  const wanted = words.trim().toLowerCase();
  let found = 0;
  for (const entry of list.querySelectorAll("[data-path]")) {
    entry.hidden = !entry.dataset.path.toLowerCase().includes(wanted);
    if (!entry.hidden) found += 1;
  }
  const none = list.querySelector("[data-files-none]");
  if (none) none.hidden = found > 0;
}
