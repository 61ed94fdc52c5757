// frame.js – holds the application in a frame that can neither leave, nor take the keys, nor stop this page.
import { tell } from "./bus.js";

// Never allow-top-navigation, and popups stay in the sandbox: neither may replace or reach the console.
const SANDBOX = ["allow-scripts", "allow-same-origin", "allow-forms", "allow-modals", "allow-popups", "allow-downloads"];
const ALLOW = "clipboard-write; fullscreen; display-capture 'none'";

const MOST_MESSAGES = 200; // a second, from the frame to this page
const LATE = 2500; // milliseconds by which this page's own timer may be late, twice
const FLICKER = 250; // milliseconds between a dialog that closed and the next
const TYPING = 1500; // milliseconds after a key in which somebody counts as writing
const ACTIVATION = 6000; // milliseconds for which a browser at most counts a page as just used
const MOST_THEFTS = 3; // in five seconds

export class AppFrame {
  // `held` is told the reason when the application had to be taken away.
  constructor({ place, shown, held, loaded }) {
    Object.assign(this, { place, shown, held, loaded });
    this.element = null;
    this.address = "";
    this.isPointerIn = false;
    this.isWanted = false;
    this.before = null;
    this.typedAt = -Infinity;
    this.usedAt = -Infinity;
    this.thefts = [];
    this.hasDialogs = true;
    this.hasHover = window.matchMedia("(hover: hover)").matches;
    watchFocus(this);
    watchMessages(this);
    watchTimer(this);
    watchDialogs(this);
    watchUse(this);
  }

  show(address, { title, dialogs = true }) {
    this.remove();
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", SANDBOX.filter((word) => dialogs || word !== "allow-modals").join(" "));
    frame.setAttribute("allow", ALLOW);
    frame.referrerPolicy = "no-referrer";
    frame.title = title;
    frame.dataset.frame = "";
    frame.addEventListener("load", () => this.loaded());
    frame.addEventListener("pointerenter", () => { this.isPointerIn = true; });
    frame.addEventListener("pointerleave", () => { this.isPointerIn = false; this.takeBack(); });
    frame.src = address;
    this.address = address;
    this.hasDialogs = dialogs;
    this.element = frame;
    this.place.append(frame);
    this.shown(false);
  }

  remove() {
    if (this.element) retire(this.element);
    this.element = null;
    this.address = "";
    this.isPointerIn = false;
    this.isWanted = false;
    this.shown(false);
  }

  reload() {
    if (this.element) this.show(this.address, { title: this.element.title, dialogs: this.hasDialogs });
  }

  get hasKeys() {
    return this.element !== null && document.activeElement === this.element;
  }

  enter() {
    if (!this.element) return;
    this.isWanted = true;
    this.element.focus();
    setTimeout(() => this.shown(this.hasKeys), 0);
  }

  // To the page and not to the field that had them before: the next key is meant for a mark.
  takeBack() {
    this.isWanted = false;
    if (!this.hasKeys) return;
    this.element.blur();
    window.focus();
    this.shown(false);
  }

  hold(reason) {
    if (!this.element) return;
    this.remove();
    this.held(reason);
  }

  // Whether something that is not the application's page has the keys: a dialog of it, for all we know.
  get isElsewhere() {
    return this.element !== null && this.hasDialogs && !this.hasKeys && !document.hasFocus();
  }
}

// Taken out at once, so that no question of the page ("leave?") stands in the way. But where a dialog may
// be open, it is led elsewhere first: Chromium closes the dialog then, and otherwise leaves this page
// without clicks and keys although the frame is gone.
function retire(element) {
  if (document.hasFocus()) return element.remove();
  element.hidden = true;
  element.addEventListener("load", () => element.remove());
  element.src = "about:blank";
  return setTimeout(() => element.remove(), 1000);
}

function watchFocus(frame) {
  document.addEventListener("focusin", (event) => {
    if (event.target !== frame.element) frame.before = event.target;
    frame.shown(frame.hasKeys);
  });
  document.addEventListener("focusout", () => setTimeout(() => {
    if (document.activeElement === document.body) frame.before = null;
  }, 0));
  document.addEventListener("pointerdown", () => { frame.usedAt = performance.now(); }, true);
  document.addEventListener("keydown", (event) => {
    frame.usedAt = performance.now();
    frame.typedAt = performance.now();
    // Tab may walk into the frame.
    if (event.key === "Tab") {
      frame.isWanted = true;
      setTimeout(() => { if (!frame.hasKeys) frame.isWanted = false; }, 200);
    }
  }, true);
  // Leaving with the pointer gives the keys back; who went in with a key is not put out by a nudge.
  document.addEventListener("pointerover", (event) => {
    if (event.target !== frame.element && !frame.isWanted) frame.takeBack();
  });
  // No event says that a frame took the focus, except that this window lost it.
  window.addEventListener("blur", () => setTimeout(() => settle(frame), 0));
  window.addEventListener("focus", () => frame.shown(frame.hasKeys));
}

// Nothing but the person gives the application the keys. Chromium has no way to forbid a frame to take
// them, so they are taken back; one that will not leave them to somebody who writes is taken away.
function settle(frame, { isSecondLook = false } = {}) {
  if (!frame.hasKeys) return frame.shown(false);
  const { before } = frame;
  const now = performance.now();
  const isWriting = before?.isConnected && before.matches("input, textarea, select");
  const isTyping = isWriting && now - frame.typedAt < TYPING;
  if (!frame.hasHover || isMeant(frame, { isTyping, now })) return frame.shown(true);
  // A quick click may be heard of before the pointer that made it.
  if (!isTyping && !isSecondLook) return setTimeout(() => settle(frame, { isSecondLook: true }), 100);
  frame.thefts = [...frame.thefts.filter((at) => now - at < 5000), now];
  // An application may keep its own field in use: where nobody writes, it gets its way in the end.
  if (!isWriting && frame.thefts.length > MOST_THEFTS) return frame.shown(true);
  if (isWriting && frame.thefts.length > 1) frame.hold("keys");
  else frame.takeBack();
  if (before?.isConnected) before.focus({ preventScroll: true });
  return undefined;
}

// The pointer is over it; or somebody has just used a page here, and it was not this one. The latter is the
// only sign where the pointer lay there before the page was loaded.
function isMeant(frame, { isTyping, now }) {
  if (frame.isWanted || isTyping) return frame.isWanted;
  return frame.isPointerIn || (navigator.userActivation?.isActive && now - frame.usedAt > ACTIVATION);
}

function watchMessages(frame) {
  let second = 0;
  let count = 0;
  window.addEventListener("message", (event) => {
    if (!frame.element || event.source === window) return;
    const now = Math.floor(performance.now() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    if (count > MOST_MESSAGES) frame.hold("messages");
  }, true);
}

function watchTimer(frame) {
  let due = performance.now() + 500;
  let late = 0;
  setInterval(() => {
    const now = performance.now();
    const isLate = now - due > LATE && document.visibilityState === "visible";
    late = isLate && frame.element ? late + 1 : 0;
    if (late > 1) { late = 0; frame.hold("slow"); }
    due = now + 500;
  }, 500);
  document.addEventListener("visibilitychange", () => { due = performance.now() + 1500; late = 0; });
}

// A dialog of the page takes the focus from this window; one that returns it and takes it again at once
// is followed by another dialog, faster than a person is.
function watchDialogs(frame) {
  let focusedAt = -Infinity;
  let flickers = [];
  window.addEventListener("focus", () => { focusedAt = performance.now(); });
  window.addEventListener("blur", () => {
    const now = performance.now();
    if (!frame.element || frame.hasKeys || !frame.hasDialogs || now - focusedAt > FLICKER) return;
    flickers = [...flickers.filter((at) => now - at < 20000), now];
    if (flickers.length >= 3) { flickers = []; frame.hold("dialogs"); }
  });
}

// A click or a key inside counts as activation of the pages around it: the only sign of use that gets out.
function watchUse(frame) {
  setInterval(() => {
    if ((frame.hasKeys || frame.isPointerIn) && navigator.userActivation?.isActive) tell("activity", {});
  }, 1000);
}
