// place.js – where the person was: outcome, scroll of the list, viewport and filter; kept for the next visit.
import { hear } from "./bus.js";
import { firstOpen, given, set } from "./state.js";
import { act } from "./keymap.js";

const list = document.querySelector("[data-outcomes]");
const KEPT = `console-place:${set.id}`;
const SOON_MS = 300;
let viewport = null;
let timer = 0;

export function place() {
  return { annotation: set.current, scroll: Math.round(list.scrollTop), filter: set.filter, ...(viewport && { viewport }) };
}

// This window's own place where it has one (a reload), else where the person was last.
export function restorePlace() {
  const last = { ...given.place, ...own() };
  set.filter = ["all", "open", "noted"].includes(last.filter) ? last.filter : "all";
  set.current = set.held.has(last.annotation) ? last.annotation : (firstOpen() ?? set.order[0]);
  viewport = last.viewport ?? null;
  hear("ready", () => {
    if (Number.isFinite(last.scroll)) list.scrollTop = last.scroll;
    if (viewport) act(`viewport-${viewport}`);
  });
  hear("viewport", ({ name }) => { viewport = name; keep(); });
}

export function watchPlace() {
  // Not at once: to ask where the list stands makes the browser lay out the page.
  hear("outcome", () => {
    clearTimeout(timer);
    timer = setTimeout(keep, SOON_MS);
  });
  window.addEventListener("pagehide", keep);
}

function keep() {
  sessionStorage.setItem(KEPT, JSON.stringify(place()));
}

function own() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}
