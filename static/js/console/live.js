// live.js – asks how the application is, shows it or says why it is not there, and offers the way on.
import { hear, tell } from "./bus.js";
import { AppFrame } from "./frame.js";
import { keysAreOn } from "./keymap.js";
import { isOpen } from "./state.js";

const MOVING = ["queued", "starting"];
const SOON = 1000;
const LIGHTLY = 4000;
const SELDOM = 15000;
const LEFT = "console-left-behind";
const AT_WORK = 120000; // so long after the last sign of a person the application is kept from expiring

const WORDS = {
  none: ["The application is not running", "Start builds it from the stored files and serves it on an address of its own."],
  queued: ["The application waits for a place", ""],
  starting: ["The application is being built and started", "A plain page takes a second; an install and a build take up to a few minutes."],
  failed: ["The application did not start", "Read its log. If the fault is its own, that is what you judge; if it is not, flag an environment problem."],
  stopped: ["Stopped", "The application and its processes have ended. Start again takes the same files, with empty storage."],
  expired: ["Ended, because nobody used it", "Start again takes the same files, with empty storage."],
  messages: ["The application was taken away", "It sent so many messages to this page that the page could not have answered you."],
  slow: ["The application was taken away", "It kept this page from answering you."],
  keys: ["The application was taken away", "It took the keys from you while you were writing. What you wrote may lack a letter or two."],
  dialogs: ["The application was taken away", "It opened one dialog right after another, so that nothing else could be used."],
  left: ["The application is not shown yet", "When this page was left, something else had the keys: perhaps a dialog of the application that would not go away."],
};

export class Live {
  constructor(root) {
    this.root = root;
    this.base = root.dataset.base;
    this.is = { state: "none" };
    this.heldBecause = "";
    this.isBusy = false;
    this.asked = "";
    this.wanted = "";
    this.seenAt = performance.now();
    this.timer = 0;
    this.dueAt = 0;
    this.isInside = false;
    this.frame = new AppFrame({
      place: this.part("[data-app]"),
      shown: (isInside) => this.showKeys(isInside),
      held: (reason) => this.hold(reason),
      loaded: () => this.lookIn(1000),
    });
    this.listen();
    this.fit();
    this.begin();
  }

  part(selector) {
    return this.root.querySelector(selector);
  }

  listen() {
    const acts = {
      reload: () => this.frame.reload(),
      reset: () => this.ask("reset/"),
      stop: () => this.ask("stop/"),
      start: () => this.startAgain(),
      logs: () => this.showLogs(false),
      "enter-app": () => this.frame.enter(),
      "take-back": () => this.frame.takeBack(),
      "viewport-phone": () => this.setViewport("phone", true),
      "viewport-tablet": () => this.setViewport("tablet", true),
      "viewport-fit": () => this.setViewport("fit", true),
    };
    this.root.addEventListener("click", (event) => {
      const name = event.target.closest("[data-act]")?.dataset.act;
      if (name in acts) acts[name]();
      if (event.target.closest("[data-start-again]")) this.startAgain();
      if (event.target.closest("[data-notice-act]")) this.startAgain();
      if (event.target.closest("[data-close]")) this.part("[data-logs]").close();
      if (event.target.closest("[data-logs-whole]")) this.showLogs(true);
      if (event.target.closest("[data-muted]")) this.showFrame({ dialogs: false });
    });
    hear("ready", ({ assignment }) => {
      this.showKeys(this.isInside);
      if (assignment?.place?.viewport) this.setViewport(assignment.place.viewport, false);
    });
    hear("controls", () => this.showKeys(this.isInside));
    document.addEventListener("change", (event) => event.target.matches("[data-keys-switch]") && setTimeout(() => this.showKeys(this.isInside)));
    hear("activity", () => { this.seenAt = performance.now(); });
    for (const name of ["pointerdown", "keydown"]) {
      document.addEventListener(name, () => { this.seenAt = performance.now(); }, true);
    }
    document.addEventListener("visibilitychange", () => this.lookIn(0));
    // A person whom dialogs keep from every control can still load the page again.
    window.addEventListener("pagehide", () => {
      if (this.frame.isElsewhere) sessionStorage.setItem(LEFT, this.is.name);
    });
    window.addEventListener("online", () => this.lookIn(0));
    new ResizeObserver(() => this.fit()).observe(this.part("[data-app]"));
  }

  async begin() {
    this.leftBehind = sessionStorage.getItem(LEFT);
    sessionStorage.removeItem(LEFT);
    await this.look();
    const isUntouched = ["none", "expired"].includes(this.is.state);
    if (isUntouched && "auto" in this.root.dataset) await this.ask("start/");
  }

  // One question at a time; the answer decides when the next is due.
  async look() {
    if (this.isBusy) return;
    const isAtWork = performance.now() - this.seenAt < AT_WORK;
    await this.fetched(`${this.base}${isAtWork ? "?active=1" : ""}`, {});
  }

  // The earlier of two appointments holds, or a page that loads itself for ever would put it off for ever.
  lookIn(milliseconds) {
    if (document.visibilityState === "hidden") return;
    const due = performance.now() + milliseconds;
    if (this.dueAt && this.dueAt <= due) return;
    clearTimeout(this.timer);
    this.dueAt = due;
    this.timer = setTimeout(() => { this.dueAt = 0; this.look(); }, milliseconds);
  }

  // What a person wants while the site is being asked is asked next; the same wish twice is one.
  async ask(path) {
    if (this.isBusy) {
      if (this.asked !== path) this.wanted = path;
      return;
    }
    this.asked = path;
    this.heldBecause = "";
    if (path !== "stop/") this.show({ state: "starting" });
    const token = document.querySelector('meta[name="csrf-token"]').content;
    await this.fetched(this.base + path, { method: "POST", headers: { "X-CSRFToken": token } });
  }

  async fetched(address, options) {
    this.isBusy = true;
    clearTimeout(this.timer);
    this.dueAt = 0;
    try {
      const answer = await fetch(address, { ...options, redirect: "manual", headers: { Accept: "application/json", ...options.headers } });
      if (answer.ok) {
        this.notice("");
        this.show(await answer.json());
      } else if (answer.status === 409) {
        this.show({ state: "none", reason: (await answer.json()).detail });
      } else if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) {
        this.unsaid("The site does not say how the application is: you may have to sign in again.");
      } else {
        this.unsaid("The site did not say how the application is; it is asked again.");
      }
    } catch {
      this.unsaid("The site cannot be reached, so the application may not answer either; it is asked again.");
    } finally {
      this.isBusy = false;
      this.asked = "";
    }
    const wanted = this.wanted;
    this.wanted = "";
    if (wanted) {
      await this.ask(wanted);
    } else {
      this.lookIn(MOVING.includes(this.is.state) ? SOON : this.is.state === "running" ? LIGHTLY : SELDOM);
    }
  }

  // What was shown stays: an application is not over because nobody can be asked.
  unsaid(sentence) {
    if (this.is.state === "starting" && !this.is.name) this.show({ state: "none", reason: sentence });
    else this.notice(sentence);
  }

  show(now) {
    const was = this.is;
    this.is = now;
    const isDead = now.state === "failed" && now.has_run;
    if (now.state === "running") {
      if (this.leftBehind === now.name) this.heldBecause = "left";
      this.leftBehind = null;
      if (!this.heldBecause && (now.name !== was.name || !this.frame.element)) this.showFrame({});
    } else if (!(isDead && this.frame.element && now.name === was.name)) {
      this.frame.remove();
    }
    if (isDead && this.frame.element) {
      this.notice(`The application died while it was used. ${now.reason}`, "Start again");
    }
    this.draw();
  }

  showFrame({ dialogs = true }) {
    this.heldBecause = "";
    this.frame.show(this.is.address, { title: "The application that is judged, live", dialogs });
    this.part("[data-host]").textContent = new URL(this.is.address).host;
    if (!dialogs) this.notice("Its dialogs are kept from opening. Reset state shows them again.");
    this.draw();
  }

  hold(reason) {
    this.heldBecause = reason;
    this.draw();
  }

  startAgain() {
    if (this.is.state === "running" && !this.frame.element) this.showFrame({});
    else this.ask("start/");
  }

  draw() {
    const { state, position, reason, log, has_run: hasRun } = this.is;
    const isDead = state === "failed" && hasRun;
    const shown = this.heldBecause || (isDead ? "died" : state);
    this.root.dataset.state = shown;
    const hasFrame = this.frame.element !== null;
    this.part("[data-frame-place]").hidden = !hasFrame;
    this.part("[data-wait]").hidden = hasFrame;
    for (const control of this.root.querySelectorAll("[data-when]")) {
      control.hidden = !control.dataset.when.split(" ").includes(isDead ? "died" : state);
    }
    this.part("[data-start-words]").textContent = state === "none" ? "Start" : "Start again";
    const tab = this.part('[data-act="open-tab"]');
    if (this.is.address) tab.href = this.is.address;
    else tab.removeAttribute("href");
    if (hasFrame) return;
    let [title, words] = WORDS[this.heldBecause || state] ?? WORDS.none;
    if (isDead) [title, words] = ["The application died while it was used", WORDS.failed[1]];
    if (state === "queued") words = `It is number ${position} in the queue. It starts by itself while this page is open; others end when nobody uses them.`;
    if (state === "expired" && reason) [title, words] = ["The application left the queue", "Start puts it there again, behind those that wait."];
    say(this.part("[data-wait-title]"), title);
    say(this.part("[data-wait-words]"), words);
    say(this.part("[data-wait-reason]"), reason ?? "");
    say(this.part("[data-wait-log]"), log ? log.text : "");
    const again = this.part("[data-start-again]");
    again.hidden = MOVING.includes(state);
    again.textContent = this.heldBecause ? (this.heldBecause === "left" ? "Show it" : "Show it again") : state === "none" ? "Start" : "Start again";
    this.drawMuted();
  }

  drawMuted() {
    this.part("[data-muted]")?.remove();
    if (!["dialogs", "left"].includes(this.heldBecause)) return;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "btn", textContent: "Show it without its dialogs" });
    button.dataset.muted = "";
    this.part("[data-start-again]").before(button);
  }

  notice(sentence, act = "") {
    const box = this.part("[data-live-notice]");
    if (!box.hidden && this.part("[data-notice-words]").textContent === sentence) return;
    if (!sentence && this.root.dataset.state === "died") return;
    box.hidden = !sentence;
    this.part("[data-notice-words]").textContent = sentence;
    this.part("[data-notice-act]").hidden = !act;
    this.part("[data-notice-act]").textContent = act;
  }

  showKeys(isInside) {
    this.isInside = isInside;
    this.root.toggleAttribute("data-keys-inside", isInside);
    const words = isInside ? "Keys go to the app" : keysAreOn() && isOpen() ? "Keys mark here" : "Keys stay here";
    if (this.part("[data-focus-words]").textContent !== words) this.part("[data-focus-words]").textContent = words;
    this.part(".live__back").hidden = !isInside;
    this.part(".live__enter").hidden = isInside;
  }

  setViewport(name, isTold) {
    this.viewport = name;
    for (const button of this.root.querySelectorAll('[data-act^="viewport-"]')) {
      button.setAttribute("aria-pressed", String(button.dataset.act === `viewport-${name}`));
    }
    this.fit();
    if (isTold) tell("viewport", { name });
  }

  // A width that this pane has not got is shown smaller, whole: nobody judges half a page.
  fit() {
    const app = this.part("[data-app]");
    const wanted = Number(this.part(`[data-act="viewport-${this.viewport ?? "fit"}"]`)?.dataset.width ?? 0);
    const scale = wanted ? Math.min(1, app.clientWidth / wanted) : 1;
    app.style.setProperty("--app-width", wanted ? `${wanted}px` : "100%");
    app.style.setProperty("--app-scale", String(scale || 1));
    app.toggleAttribute("data-framed", wanted > 0 && wanted < app.clientWidth);
    this.part("[data-fit]").textContent = app.clientWidth ? String(app.clientWidth) : "";
  }

  async showLogs(isWhole) {
    const dialog = this.part("[data-logs]");
    const body = this.part("[data-logs-body]");
    if (!dialog.open) dialog.showModal();
    let logs = [];
    try {
      const answer = await fetch(`${this.base}logs/${isWhole ? "?whole=1" : ""}`, { redirect: "manual" });
      if (!answer.ok) throw new Error(String(answer.status));
      ({ logs } = await answer.json());
    } catch {
      body.replaceChildren(paragraph("The logs cannot be read now; try again in a moment."));
      return;
    }
    body.replaceChildren(...(logs.length ? logs.flatMap(logParts) : [paragraph("Nothing was written yet.")]));
    this.part("[data-logs-whole]").hidden = !logs.some((log) => log.cut);
    for (const log of body.querySelectorAll(".log")) log.scrollTop = log.scrollHeight;
  }
}

function logParts(log) {
  const title = document.createElement("h3");
  title.textContent = log.title;
  const text = document.createElement("pre");
  Object.assign(text, { className: "log", tabIndex: 0, textContent: visible(log.text), dir: "auto" });
  text.setAttribute("aria-label", log.title);
  const parts = [title, text];
  if (log.cut) parts.splice(1, 0, paragraph(`${log.cut.toLocaleString("en")} more characters before this are not shown.`));
  return parts;
}

function paragraph(words) {
  const made = document.createElement("p");
  Object.assign(made, { className: "muted small", textContent: words });
  return made;
}

function say(element, words) {
  const text = visible(words);
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}

// Control characters become visible signs, as everywhere: a log must not paint or reorder this page.
function visible(text) {
  return text
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (sign) => String.fromCodePoint(0x2400 + sign.codePointAt(0)))
    .replace(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g, "␦");
}
