// console.js – puts the parts of the console together: what each control does, and what each piece of news changes.
import { Refused, SignedOut, Unreachable, get, noticeSignIn, post, postLast } from "./api.js";
import { hear, tell } from "./bus.js";
import { lastTime, startClock } from "./clock.js";
import { askProblem, askSignIn, askSubmit, endSignIn } from "./dialogs.js";
import { renewGuideline } from "./guideline.js";
import { act, listenForKeys } from "./keymap.js";
import { outbox } from "./outbox.js";
import { closeSheet, isNarrow, openSheet, startPanes } from "./panes.js";
import { saveNote, startNote } from "./note.js";
import { place, restorePlace, watchPlace } from "./place.js";
import * as state from "./state.js";
import { startTalk } from "./talk.js";
import * as view from "./view.js";

const { set, given } = state;
const { find } = view;
const POLL_MS = 5000;
const address = `/api/v1/assignments/${set.id}`;
const goesOn = find("[data-goes-on]");
// What was in sight when somebody began to type a rating.
let rating = null;

const acts = {
  pass: () => mark("pass"),
  partial: () => mark("partial"),
  fail: () => mark("fail"),
  problem: flag,
  undo: takeBack,
  note: (event) => {
    if (!state.isOpen()) event.preventDefault();
    else if (isNarrow()) openSheet("more", find("[data-open-more]"));
  },
  next: () => go(state.neighbour(1)),
  previous: () => go(state.neighbour(-1)),
  "next-criterion": () => go(state.neighbourCriterion(1)),
  "previous-criterion": () => go(state.neighbourCriterion(-1)),
  "next-open": nextOpen,
  submit,
  sheet: () => find("#keys").showModal(),
};

async function start() {
  goesOn.checked = localStorage.getItem("console-goes-on") !== "off";
  startPanes();
  restorePlace();
  view.reckon(given.seconds_left);
  view.drawAll();
  listenForControls();
  listenForNews();
  listenForKeys();
  startNote();
  startTalk();
  if (set.isMine) {
    await outbox.open({ user: Number(find("[data-console]").dataset.user), assignment: set.id, place });
    state.recall();
    startClock();
    watchPlace();
  }
  showState(given);
  view.drawAll();
  setInterval(poll, POLL_MS);
  document.addEventListener("visibilitychange", poll);
  window.addEventListener("focus", poll);
  window.addEventListener("pagehide", sayGoodbye);
  window.addEventListener("beforeunload", (event) => {
    saveNote();
    if (outbox.waiting || outbox.isLostOnLeaving) event.preventDefault();
  });
  tell("ready", { assignment: given });
  tell("outcome", { annotation: set.held.get(set.current) });
  find("[data-console]").toggleAttribute("data-ready", true);
}

function listenForControls() {
  document.addEventListener("click", (event) => {
    const at = (name) => event.target.closest?.(`[${name}]`);
    const button = at("data-act");
    if (button && button.dataset.act in acts) acts[button.dataset.act](event);
    else if (at("data-proxy")) act(at("data-proxy").dataset.proxy);
    else if (at("data-pick")) pick(Number(at("data-pick").dataset.pick));
    else if (at("data-filter")) filter(at("data-filter").dataset.filter);
    else if (at("data-show-all")) filter("all");
    else if (at("data-keep")) choose(at("data-keep").dataset.keep === "mine");
    else if (at("data-save-score")) rate();
    else if (at("data-toast-act")) toastAct(at("data-toast-act").dataset.toastAct);
  });
  goesOn.addEventListener("change", () => localStorage.setItem("console-goes-on", goesOn.checked ? "on" : "off"));
  // Arrows move among the marks without giving one: each press would be a mark that is saved.
  find("[data-marks]")?.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll("[role=radio]")];
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  });
  find("[data-outcomes]").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    if (go(state.neighbour(step))) find("[data-pick]", view.rowOf(set.current)).focus();
  });
  find("[data-score]")?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    const before = set.current;
    // Leaving the field is what saves a rating, once.
    event.target.blur();
    if (event.key !== "Enter" || set.current === before) return;
    event.target.focus();
    event.target.select();
  });
  find("[data-score]")?.addEventListener("change", rate);
  find("[data-score]")?.addEventListener("focus", () => { rating = state.sight(set.current); });
}

function listenForNews() {
  hear("outbox", () => view.drawConnection());
  hear("changed", ({ annotation }) => drawAfterChange(annotation));
  hear("saved", (result) => {
    state.learn(result.annotation);
    drawAfterChange(result.annotation.id);
  });
  hear("conflict", (result) => {
    state.learn(result.annotation);
    drawAfterChange(result.annotation.id);
    say("An outcome was saved differently elsewhere. Nothing was overwritten: choose which one stays.");
  });
  hear("picture-saved", ({ annotation, picture }) => {
    const held = set.held.get(annotation);
    if (held.pictures.some((each) => each.id === picture.id)) return;
    set.held.set(annotation, { ...held, pictures: [...held.pictures, picture] });
  });
  hear("presence", showState);
  hear("closed", ({ detail }) => {
    showState({ state: set.state, closed: detail });
    poll();
  });
  hear("signed-out", (how) => {
    // Not in the midst of a sentence: its rest would be typed into the password.
    if (!document.activeElement?.matches("textarea, input")) askSignIn(how);
    else if (!document.activeElement.closest("dialog")) document.activeElement.addEventListener("blur", () => outbox.needsSignIn && askSignIn(how), { once: true });
  });
  hear("signed-in", () => {
    endSignIn();
    view.drawConnection();
    poll();
  });
  hear("offline", () => say("Offline. What you do is kept in this browser."));
  hear("online", () => say("Connected again."));
}

function drawAfterChange(id) {
  view.drawRow(id);
  view.drawProgress();
  if (id === set.current) view.drawCurrent();
}

function pick(id) {
  go(id);
  closeSheet();
}

function go(id) {
  if (id === null || id === undefined) return false;
  saveNote();
  const before = set.current;
  set.current = id;
  view.drawRow(before);
  view.drawRow(id);
  view.drawProgress();
  view.drawCurrent();
  view.scrollToCurrent();
  find("[data-judge-body]").scrollTop = 0;
  tell("outcome", { annotation: set.held.get(id) });
  return true;
}

function filter(name) {
  set.filter = name;
  for (const id of set.order) view.drawRow(id);
  view.drawProgress();
  view.scrollToCurrent();
}

function mark(name) {
  if (!state.isOpen() || !set.marks.includes(name)) return;
  decide({ change: "mark", mark: name }, view.MARK_WORDS[name], state.shown(set.current).mark === name);
}

function rate() {
  const box = find("[data-score]");
  const scale = set.scales.get(set.held.get(set.current).scale);
  const problem = find("[data-score-problem]");
  const score = box.value.trim() === "" ? NaN : Number(box.value);
  const isWithin = score >= scale.minimum && score <= scale.maximum;
  problem.hidden = isWithin || box.value === "";
  problem.textContent = isWithin ? "" : `Give a number from ${scale.minimum} to ${scale.maximum}.`;
  box.toggleAttribute("aria-invalid", !isWithin && box.value !== "");
  if (!isWithin || !state.isOpen() || state.shown(set.current).score === score) return;
  decide({ change: "score", score }, `Rated ${score}`, false, rating);
}

async function flag() {
  if (!state.isOpen()) return;
  const id = set.current;
  const seen = state.sight(id);
  const answer = await askProblem(state.shown(id));
  if (answer && id === set.current) decide({ change: "problem", ...answer }, "Environment problem", false, seen);
}

function decide(given, words, isSame, seen = null) {
  saveNote();
  const id = set.current;
  if (!isSame) state.change(id, given, seen);
  const next = goesOn.checked && !state.isDisputed(id) ? state.nextOpen() : null;
  if (next === null) {
    const isAll = state.firstOpen() === null;
    say(isAll ? `${words}. All ${set.order.length} are marked: submit, or look again.` : `${words}.`);
    return;
  }
  go(next);
  say(`${words}. Next: ${find(".outcome__text", view.rowOf(next)).textContent}`);
}

async function takeBack() {
  if (!state.isOpen()) return;
  saveNote();
  if (!(await state.catchUpWithUndo(() => get(address)))) {
    say("Nothing was undone, because you went on before the site answered. Undo again.");
    return;
  }
  const id = state.undo();
  if (id === null) {
    say("Nothing is left to undo.");
    return;
  }
  if (id !== set.current) go(id);
  say(`Undone: ${find(".outcome__text", view.rowOf(id)).textContent} is ${view.MARK_WORDS[state.look(state.shown(id))].toLowerCase()} again.`);
}

function nextOpen() {
  const next = state.nextOpen() ?? state.firstOpen();
  if (next === null) submit();
  else go(next);
}

async function choose(keepsMine) {
  const id = set.current;
  saveNote();
  await state.settle(id, { keepsMine });
  say(keepsMine ? "Yours stays." : "The saved one stays.");
}

async function submit() {
  if (!state.isOpen()) return;
  saveNote();
  const open = set.order.filter((id) => state.passes(id, "open"));
  if (open.length) {
    // Nothing moves where the open one is in hand already, so it has to be said for the eye as well.
    if (open[0] === set.current) view.hint(`${open.length} still open, the first is in hand: ${find(".outcome__text", view.rowOf(open[0])).textContent}`);
    return jump(open[0], `${open.length} still open. This is the first.`);
  }
  const dispute = state.firstDisputed();
  if (dispute !== null) return jump(dispute, "Choose first which of the two stays.");
  if (!(await outbox.settle())) {
    say("Some changes are not saved yet. Submit again when the site answers.");
    return undefined;
  }
  const counts = state.progress();
  const flagged = counts.flagged ? `, of which ${counts.flagged} ${counts.flagged === 1 ? "is an environment problem" : "are environment problems"}` : "";
  if (!(await askSubmit(`${counts.decided} of ${counts.total} are marked${flagged}.`))) return undefined;
  try {
    const answer = await post(`${address}/submit`, {});
    showState({ closed: "This set was submitted.", ...answer });
    say("Submitted.");
  } catch (error) {
    if (error instanceof Refused && error.answer.missing?.length) return jump(error.answer.missing[0], error.message);
    if (!(error instanceof SignedOut)) say(error instanceof Refused ? error.message : "The site does not answer. Submit again in a moment.");
  }
  return undefined;
}

function jump(id, words) {
  go(id);
  closeSheet();
  find("[data-text]").focus({ preventScroll: true });
  say(words);
}

async function poll() {
  if (document.hidden) return;
  try {
    // Not under the fingers of somebody who types a password: the rest of it would be keys that mark.
    if (outbox.needsSignIn && !find("#again-password").value) await noticeSignIn();
    if (outbox.needsSignIn) return;
    const answer = await get(`${address}/changes?after=${set.sequence}`);
    set.sequence = answer.sequence;
    for (const annotation of answer.annotations) {
      if (state.learnFromElsewhere(annotation)) drawAfterChange(annotation.id);
    }
    showState(answer);
    outbox.reached();
    if (await renewGuideline(answer.guideline_version)) say("The guideline was changed. The new one is open beside the four conventions.");
  } catch (error) {
    if (error instanceof Unreachable) outbox.lost();
    else if (!(error instanceof SignedOut) && !(error instanceof Refused)) throw error;
  }
}

// `closed` is the site's sentence why nothing can be saved, null while something can.
function showState({ state: name, closed, submitted_at: at = null }) {
  const isNews = set.state !== name || set.closed !== closed;
  Object.assign(set, { state: name, closed });
  outbox.setOver(Boolean(closed));
  const late = outbox.waiting && closed ? ` ${outbox.waiting} of your changes were not saved any more and are kept in this browser.` : "";
  const submitted = `Submitted${at ? ` at ${view.clock(at)}` : ""}. Everything is saved. To change a mark, ask the lead to open the set again.`;
  const lookingOn = set.isMine ? "" : `You are looking on: this set is ${given.owner ?? "nobody"}'s, and only that person can mark it.`;
  view.drawEnded(lookingOn || (name === "submitted" && !late ? submitted : (closed ?? "")) + late);
  tell("over", { isOver: Boolean(closed) || !set.isMine });
  if (!isNews) return;
  // Once the set is handed in or was taken back, there is nothing left to reveal.
  if (name !== "open") for (const link of document.querySelectorAll("[data-reveal]")) seal(link);
  view.drawAll();
  tell("controls");
}

function seal(link) {
  link.removeAttribute("href");
  link.textContent = "Blind";
}

async function toastAct(name) {
  if (name === "sign-in") askSignIn({ isAsked: true });
  if (name === "dismiss") await outbox.dismiss();
  if (name === "choose") go(state.firstDisputed());
  if (name === "download") await download();
  view.drawAll();
}

async function download() {
  const unsent = await outbox.unsent();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify({ assignment: set.id, unsent }, null, 2)], { type: "application/json" }));
  link.download = `assignment-${set.id}-unsaved.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function sayGoodbye() {
  if (!state.isOpen()) return;
  const time = lastTime();
  const times = time ? [{ operation: time.operation, annotation: time.annotation, milliseconds: time.milliseconds }] : [];
  postLast(`${address}/presence`, { times, place: place() });
}

// A polite region that speaks again only after it was emptied.
let saying = 0;
function say(words) {
  const region = find("[data-said]");
  region.textContent = "";
  clearTimeout(saying);
  saying = setTimeout(() => { region.textContent = words; }, 50);
}

hear("say", ({ words }) => say(words));
start();
