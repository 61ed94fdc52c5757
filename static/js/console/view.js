// view.js – draws what state.js holds: the row of each outcome, the outcome in hand, progress and saving.
import { workedSeconds } from "./clock.js";
import { State, outbox } from "./outbox.js";
import {
  canUndo, disputedCount, disputes, isDecided, isDisputed, isFlagged, isNoted, isOpen, look, passes, progress, set, shown,
} from "./state.js";

// What stands in the page for good is looked up once: a search through thousands of rows takes its time.
const found = new Map();
export function find(selector, root = null) {
  if (root) return root.querySelector(selector);
  if (!found.get(selector)) found.set(selector, document.querySelector(selector));
  return found.get(selector);
}
export const MARK_WORDS = { pass: "Pass", partial: "Partial", fail: "Fail", error: "Environment problem", rated: "Rated", open: "Not marked" };
const MINUTE = 60;
const HINT_MS = 8000;
const page = find("[data-console]");
const markButtons = [...find("#judge").querySelectorAll("[data-marks] [role=radio]")];
const writers = find("#judge").querySelectorAll("[data-act=problem], [data-save-score], [data-score]");
const filters = find("#outcomes").querySelectorAll("[data-filter]");
const submitters = [...document.querySelectorAll("[data-submit]")];
const rows = new Map([...document.querySelectorAll("[data-annotation]")].map((row) => [Number(row.dataset.annotation), row]));
const groups = new Map([...document.querySelectorAll(".outcome-group")].map((group, at) => [set.criteria[at].key, group]));
const problemWords = new Map([...document.querySelectorAll('[name="problem"]')].map((box) => [box.value, box.parentElement.textContent.trim()]));
// On the button its text follows at once.
problemWords.set("other", "Something else");
let secondsEach = null;
let decidedBefore = 0;
let drawnFor = null;
let hinted = "";
let hinting = 0;

export function drawAll() {
  for (const id of set.order) drawRow(id);
  drawProgress();
  drawCurrent();
  drawConnection();
}

export function drawRow(id) {
  const row = rows.get(id);
  const values = shown(id);
  const name = look(values);
  const glyph = find("svg", row);
  if (glyph.dataset.look !== name) {
    glyph.dataset.look = name;
    glyph.setAttribute("class", `icon mark--${name}`);
    glyph.setAttribute("aria-label", MARK_WORDS[name]);
    find("use", glyph).setAttribute("href", `#m-${name}`);
  }
  const tags = [];
  if (isDisputed(id)) tags.push("choose");
  if (isFlagged(values)) tags.push("env");
  if (values.score !== null) tags.push(String(values.score));
  if (isNoted(values)) tags.push("note");
  const words = tags.join(", ");
  const box = find(".outcome__tags", row);
  if (box.textContent !== words) box.textContent = words;
  row.hidden = !passes(id) && id !== set.current;
}

// Several pieces of news in one frame are drawn once.
const drawsDue = new Set();
function soon(draw) {
  if (!drawsDue.size) requestAnimationFrame(() => {
    const due = [...drawsDue];
    drawsDue.clear();
    for (const each of due) each();
  });
  drawsDue.add(draw);
}

export const drawProgress = () => soon(drawProgressNow);
export const drawConnection = () => soon(drawConnectionNow);

function drawProgressNow() {
  const counts = progress();
  const open = counts.total - counts.decided;
  const flagged = counts.flagged ? `, ${counts.flagged} flagged` : "";
  const words = find("[data-progress]");
  find("b", words).textContent = `${counts.decided} of ${counts.total}`;
  words.lastChild.textContent = ` marked${matchMedia("(max-width: 720px)").matches ? "" : flagged + timeLeft(counts.decided, open)}`;
  find("[data-meter-done]").setAttribute("width", counts.total ? (100 * counts.decided) / counts.total : 0);
  find('[data-count="all"]').textContent = counts.total;
  find('[data-count="open"]').textContent = open;
  find('[data-count="noted"]').textContent = counts.noted;
  for (const button of submitters) {
    find("[data-submit-words]", button).textContent = set.state === "submitted" ? "Submitted" : open ? `Submit: ${open} still open` : "Submit";
    button.disabled = !isOpen();
    button.classList.toggle("btn--primary", open === 0 && isOpen());
  }
  find("[data-next-open-words]").textContent = open ? "Next open" : "Submit";
  find('[data-act="next-open"]').hidden = !isOpen();
  for (const criterion of set.criteria) {
    const done = criterion.annotations.filter((id) => isDecided(shown(id))).length;
    const group = groups.get(criterion.key);
    find("[data-criterion-count]", group).textContent = `${done} / ${criterion.annotations.length}`;
    group.hidden = criterion.annotations.every((id) => rows.get(id).hidden);
  }
  drawFilter(open, counts.noted);
}

function drawFilter(open, noted) {
  for (const button of filters) {
    button.setAttribute("aria-pressed", String(button.dataset.filter === set.filter));
  }
  const isNone = (set.filter === "open" && !open) || (set.filter === "noted" && !noted);
  find("[data-none]").hidden = !isNone;
  if (isNone) find("[data-none-words]").textContent = set.filter === "open" ? "Nothing is open." : "No outcome has a note.";
}

// As the server reckons from times of this person or of others; on a first set, by the pace of this visit.
function timeLeft(decided, open) {
  const here = decided - decidedBefore;
  const each = secondsEach ?? (here >= 3 ? workedSeconds() / here : null);
  if (!open || each === null) return "";
  return ` · about ${duration(each * open)} left`;
}

// The words of the list of sets, which says the same of the same set (`duration` in benchmark/display.py).
function duration(seconds) {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 99.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / MINUTE);
  if (minutes < 100) return `${minutes} min`;
  return `${Math.floor(minutes / MINUTE)} h ${String(minutes % MINUTE).padStart(2, "0")} min`;
}

export function reckon(secondsLeft) {
  decidedBefore = set.order.filter((id) => isDecided(shown(id))).length;
  const open = set.order.length - decidedBefore;
  if (secondsLeft !== null && open) secondsEach = secondsLeft / open;
}

export function drawCurrent() {
  const id = set.current;
  const held = set.held.get(id);
  const values = shown(id);
  const criterion = set.criterionOf.get(id);
  const scale = set.scales.get(held.scale);
  for (const row of [rows.get(drawnFor), rows.get(id)]) {
    const pick = row && find("[data-pick]", row);
    if (row === rows.get(id)) pick.setAttribute("aria-current", "true");
    else pick?.removeAttribute("aria-current");
    if (pick) pick.tabIndex = row === rows.get(id) ? 0 : -1;
  }
  drawnFor = id;
  const number = `${scale ? "rating" : "outcome"} ${criterion.annotations.indexOf(id) + 1} of ${criterion.annotations.length}`;
  const facts = scale ? "" : [criterion.kind, `weight ${criterion.weight}`].filter(Boolean).join(", ");
  find("[data-where]").textContent = [criterion.title, criterion.annotations.length > 1 ? number : "", facts].filter(Boolean).join(" · ");
  // The row already shows control characters as signs, so its words are taken as they stand there.
  find("[data-text]").replaceChildren(...[...find(".outcome__text", rows.get(id)).childNodes].map((node) => node.cloneNode(true)));
  if (scale) drawScore(scale, values);
  drawMarks(values);
  drawProblem(values);
  drawNote(values);
  drawSaved();
  drawConflict();
  for (const control of writers) control.disabled = !isOpen();
  find("[data-note]").readOnly = !isOpen();
  const undo = find('.judge__saved [data-act="undo"]');
  undo.disabled = !isOpen() || !canUndo();
  undo.hidden = !isOpen();
  find('[data-proxy="capture"]').disabled = !isOpen();
  // What is over can be read, and no longer looks as if it could be written.
  page.toggleAttribute("data-over", !isOpen());
}

function drawMarks(values) {
  const chosen = markButtons.find((button) => button.dataset.act === values.mark);
  for (const button of markButtons) {
    button.setAttribute("aria-checked", String(button === chosen));
    button.tabIndex = button === (chosen ?? markButtons[0]) ? 0 : -1;
    button.disabled = !isOpen();
  }
}

function drawScore(scale, values) {
  const box = find("[data-score]");
  find("[data-range]").textContent = `${scale.minimum} to ${scale.maximum}`;
  box.min = scale.minimum;
  box.max = scale.maximum;
  box.step = "any";
  if (document.activeElement !== box) box.value = values.score ?? "";
}

function drawProblem(values) {
  const button = find("[data-act=problem]");
  button.toggleAttribute("data-on", isFlagged(values));
  const words = isFlagged(values) ? problemWords.get(values.problem) ?? values.problem : "Environment problem";
  find("[data-problem-aside]").hidden = isFlagged(values);
  find("[data-problem-words]").textContent = values.problem_text ? `${words}: ${values.problem_text}` : words;
}

// What is being typed is the person's until it has been written down; nothing that arrives replaces it.
function drawNote(values) {
  const box = find("[data-note]");
  if (box.dataset.of === String(set.current) && box.hasAttribute("data-dirty")) return;
  box.dataset.of = set.current;
  const note = values.note ?? "";
  if (box.value !== note) box.value = note;
  fit(box);
  find("[data-more-count]").textContent = note ? " (1)" : "";
}

export function fit(box) {
  box.style.height = "";
  if (box.value && box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight + 2, 260)}px`;
}

export function drawSaved() {
  const line = find("[data-saved-at]");
  const id = set.current;
  const held = set.held.get(id);
  const isWaiting = outbox.entries({ annotation: id, state: State.WAITING }).length > 0;
  const values = shown(id);
  line.dataset.state = "saved";
  if (isDisputed(id)) {
    line.dataset.state = "conflict";
    line.textContent = "Not saved yet: choose below";
  } else if (isWaiting) {
    line.dataset.state = outbox.isOffline || outbox.isOver || outbox.needsSignIn ? "kept" : "saving";
    line.textContent = line.dataset.state === "saving" ? "Saving" : keptWords();
  } else if (held.saved_at) {
    line.textContent = `Saved at ${clock(held.saved_at)}`;
  } else {
    line.dataset.state = "none";
    line.textContent = "Not marked yet";
  }
  const isNoteDirty = find("[data-note]").hasAttribute("data-dirty");
  find("[data-note-state]").textContent = isNoteDirty ? "Writing" : isNoted(values) ? (isWaiting || isDisputed(id) ? "Kept here" : "Saved") : "";
}

function drawConflict() {
  const mine = disputes(set.current);
  const theirs = set.held.get(set.current);
  const box = find("[data-conflict]");
  box.hidden = !mine.length;
  if (!mine.length) return;
  find("[data-mine-at]").textContent = clock(mine.at(-1).made_at);
  find("[data-theirs-at]").textContent = theirs.saved_at ? `at ${clock(theirs.saved_at)}` : "";
  drawSide(find("[data-mine]"), shown(set.current));
  drawSide(find("[data-theirs]"), theirs);
}

function drawSide(box, values) {
  const name = look({ ...values, mark: values.mark ?? "", score: values.score ?? null });
  const glyph = find("svg", rows.get(set.current)).cloneNode(true);
  glyph.setAttribute("class", `icon mark--${name}`);
  glyph.setAttribute("aria-hidden", "true");
  find("use", glyph).setAttribute("href", `#m-${name}`);
  const said = document.createElement("b");
  said.textContent = values.score ?? MARK_WORDS[name];
  const note = document.createElement("p");
  note.className = "small given-text";
  note.dir = "auto";
  note.textContent = [problemWords.get(values.problem), values.problem_text, values.note].filter(Boolean).join("\n") || "No note";
  box.replaceChildren(glyph, " ", said, note);
}

function drawConnectionNow() {
  const line = find("[data-connection]");
  const waiting = outbox.waiting;
  const choices = disputedCount();
  const newest = [...set.held.values()].reduce((last, each) => (each.saved_at > last ? each.saved_at : last), "");
  let words = newest ? `All saved, ${clock(newest)}` : "";
  if (choices) words = `${choices} to choose`;
  else if (outbox.isOffline || outbox.isOver || outbox.needsSignIn) words = waiting ? keptWords() : outbox.isOffline ? "Offline" : words;
  else if (waiting) words = `Saving ${waiting}`;
  if (line.textContent !== words) line.textContent = words;
  page.toggleAttribute("data-offline", outbox.isOffline);
  drawSaved();
  drawToast(waiting, choices);
}

// A word on what was just done, gone after a while.
export function hint(words) {
  hinted = words;
  clearTimeout(hinting);
  hinting = setTimeout(() => { hinted = ""; drawConnection(); }, HINT_MS);
  drawConnection();
}

// One at a time, the gravest first; never the only place of a fact.
function drawToast(waiting, choices) {
  const box = find("[data-toast]");
  const refused = outbox.entries({ state: State.REFUSED }).concat(outbox.entries({ kind: "picture", state: State.REFUSED }));
  const [kind, words, action] = refused.length
    ? ["refused", `${count(refused.length, "change")} not taken: ${refused[0].detail}`, ["download", "dismiss"]]
    : outbox.isOver && waiting
      ? ["over", `${count(waiting, "change")} kept in this browser, not saved in this set.`, ["download"]]
      : outbox.needsSignIn
        ? ["signed-out", `Your sign-in has ended. ${waiting ? keptWords() : "Nothing is lost"}.`, ["sign-in"]]
        : choices && !isDisputed(set.current)
          ? ["conflict", `${count(choices, "outcome")} saved differently elsewhere.`, ["choose"]]
          : !outbox.isKept && waiting
            ? ["unkept", "This browser keeps nothing. Leave the page open until all is saved.", []]
            : outbox.isOffline
              ? ["offline", `Offline. ${waiting ? `${count(waiting, "change")} kept here, sent when the site answers.` : "What you do is kept here."}`, []]
              : hinted
                ? ["hint", hinted, []]
                : ["", "", []];
  box.hidden = !kind;
  if (box.dataset.kind === kind && box.dataset.words === words) return;
  Object.assign(box.dataset, { kind, words });
  const text = document.createElement("p");
  text.textContent = words;
  box.replaceChildren(text, ...action.map(toastButton));
}

function toastButton(name) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn--small";
  button.dataset.toastAct = name;
  button.textContent = { download: "Download them", dismiss: "Dismiss", "sign-in": "Sign in", choose: "Choose" }[name];
  return button;
}

export function drawEnded(words) {
  find("[data-ended]").hidden = !words;
  find("[data-ended-words]").textContent = words;
}

export function scrollToCurrent() {
  rows.get(set.current)?.scrollIntoView({ block: "nearest" });
}

export const rowOf = (id) => rows.get(id);

function keptWords() {
  return `Kept here, ${outbox.isOffline ? "offline: " : ""}${outbox.waiting} waiting`;
}

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

export function clock(time) {
  return new Date(time).toLocaleTimeString("en-GB", { hour12: false });
}
