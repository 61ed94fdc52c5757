// clock.js – measures the time at work on each outcome, idle time left out, and says that the person is here.
import { bus } from "./bus.js";
import { outbox } from "./outbox.js";

const IDLE_HERE_MS = 60000;
const IDLE_IN_FRAME_MS = 120000;
const TICK_MS = 1000;
const PRESENT_MS = 20000;
// A computer that slept must not count its sleep as one long tick.
const LONGEST_TICK_MS = 2500;

let annotation = null;
let spent = 0;
let worked = 0;
let activeAt = performance.now();
let tickedAt = performance.now();

export function startClock() {
  for (const kind of ["pointerdown", "pointermove", "keydown", "wheel", "input", "touchstart"]) {
    document.addEventListener(kind, isActive, { capture: true, passive: true });
  }
  // No event tells of keys inside the frame; entering it does, and so does what the frame itself reports.
  window.addEventListener("blur", () => setTimeout(() => inFrame() && isActive()));
  bus.addEventListener("activity", isActive);
  bus.addEventListener("outcome", ({ detail }) => turnTo(detail.annotation.id));
  setInterval(tick, TICK_MS);
  setInterval(present, PRESENT_MS);
  document.addEventListener("visibilitychange", () => {
    tick();
    if (document.hidden) write();
  });
}

// Time at work since this page was opened.
export const workedSeconds = () => worked / 1000;

// What was not written down yet, for the last word of a page that goes away.
export function lastTime() {
  tick();
  return taken();
}

function isActive() {
  tick();
  activeAt = performance.now();
}

function tick() {
  const now = performance.now();
  const limit = inFrame() ? IDLE_IN_FRAME_MS : IDLE_HERE_MS;
  if (!document.hidden && now - activeAt < limit) {
    const stretch = Math.min(now - tickedAt, LONGEST_TICK_MS);
    spent += stretch;
    worked += stretch;
  }
  tickedAt = now;
}

function turnTo(next) {
  tick();
  if (next === annotation) return;
  write();
  annotation = next;
}

function present() {
  if (document.hidden) return;
  tick();
  write();
  outbox.present();
}

function write() {
  const time = taken();
  if (time) outbox.add(time);
}

function taken() {
  const milliseconds = Math.round(spent);
  if (annotation === null || milliseconds < 1 || outbox.isOver) return null;
  spent = 0;
  return { kind: "time", operation: crypto.randomUUID(), annotation, milliseconds };
}

function inFrame() {
  return document.activeElement?.tagName === "IFRAME";
}
