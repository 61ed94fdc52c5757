// state.js – what is known of the set: what the site holds, what waits here on top of it, what is shown.
import { tell } from "./bus.js";
import { State, outbox } from "./outbox.js";

export const given = JSON.parse(document.getElementById("assignment-data").textContent);
const VALUES = ["mark", "score", "problem", "problem_text", "note"];

export const set = {
  id: given.id,
  isMine: given.is_mine,
  state: given.state,
  closed: given.closed,
  sequence: given.sequence,
  marks: given.campaign.marks,
  scales: new Map(given.campaign.scales.map((scale) => [scale.key, scale])),
  criteria: given.criteria,
  order: given.criteria.flatMap((criterion) => criterion.annotations),
  held: new Map(given.annotations.map((annotation) => [annotation.id, annotation])),
  criterionOf: new Map(given.criteria.flatMap((each) => each.annotations.map((id) => [id, each]))),
  current: null,
  filter: "all",
};

let undoable = [...given.undo];
let isUndoStale = false;
let changesMade = 0;

export const isOpen = () => set.isMine && !set.closed && !outbox.isOver;

// The values of an annotation as the person sees them: the site's, with what waits here on top.
// Counted over thousands at each key, so what rests is reckoned once.
const rested = new Map();
export function shown(id) {
  const held = set.held.get(id);
  if (rested.get(id)?.held !== held) rested.set(id, { held, values: valuesOf(held) });
  let { values } = rested.get(id);
  if (!outbox.touches(id)) return values;
  for (const entry of outbox.entries({ annotation: id })) {
    if (entry.state !== State.REFUSED) values = after(values, entry);
  }
  return values;
}

export const isDecided = (values) => Boolean(values.mark) || values.score !== null;
export const isFlagged = (values) => Boolean(values.problem);
export const isNoted = (values) => Boolean(values.note);

export const look = (values) => values.mark || (values.score !== null ? "rated" : "open");

export function progress() {
  const counts = { total: set.order.length, decided: 0, flagged: 0, noted: 0 };
  for (const id of set.order) {
    const values = shown(id);
    counts.decided += isDecided(values);
    counts.flagged += isFlagged(values);
    counts.noted += isNoted(values);
  }
  return counts;
}

export function passes(id, filter = set.filter) {
  if (filter === "open") return !isDecided(shown(id));
  if (filter === "noted") return isNoted(shown(id));
  return true;
}

// Steps through what the list shows; the one in hand may have left it.
export function neighbour(step) {
  const here = set.order.indexOf(set.current);
  for (let at = here + step; at >= 0 && at < set.order.length; at += step) {
    if (passes(set.order[at])) return set.order[at];
  }
  return null;
}

export function neighbourCriterion(step) {
  const here = set.criteria.indexOf(set.criterionOf.get(set.current));
  for (let at = here + step; at >= 0 && at < set.criteria.length; at += step) {
    const first = set.criteria[at].annotations.find((id) => passes(id));
    if (first !== undefined) return first;
  }
  return null;
}

// The next without a mark, going round to the beginning.
export function nextOpen() {
  const here = set.order.indexOf(set.current);
  const round = [...set.order.slice(here + 1), ...set.order.slice(0, here + 1)];
  return round.find((id) => id !== set.current && passes(id, "open")) ?? null;
}

export const firstOpen = () => set.order.find((id) => passes(id, "open")) ?? null;

export const disputes = (id) => outbox.entries({ annotation: id, state: State.CONFLICT });

export const isDisputed = (id) => disputes(id).length > 0;

export const firstDisputed = () => set.order.find(isDisputed) ?? null;

export const disputedCount = () => new Set(outbox.entries({ state: State.CONFLICT }).map((entry) => entry.annotation)).size;

// Either what is saved stays, or what was made here is made anew upon it. Nothing goes over a thing unseen.
export async function settle(id, { keepsMine }) {
  const entries = disputes(id);
  await outbox.withdraw(entries);
  forget(entries.map((entry) => entry.operation));
  const renamed = new Map();
  for (const { operation, change: kind, mark, score, problem, problem_text, note, undoes } of keepsMine ? entries : []) {
    const given = { change: kind, mark, score, problem, problem_text, note, undoes: renamed.get(undoes) ?? undoes };
    renamed.set(operation, change(id, given).operation);
  }
  tell("changed", { annotation: id });
}

// What a person knows of an annotation on beginning to write over it: what the site holds, and what each
// change that waits here makes of it.
export function sight(id) {
  const held = set.held.get(id);
  const known = [valuesOf(held)];
  for (const entry of outbox.entries({ annotation: id })) {
    if (entry.state !== State.REFUSED) known.push(after(known.at(-1), entry));
  }
  return { id, version: held.version, known };
}

// `seen` is what was in sight on beginning: what arrived since then in the place of what is overwritten was
// seen by nobody, so the change is made upon the version before it, and becomes a conflict.
export function change(id, given, seen = null) {
  changesMade += 1;
  const before = shown(id);
  const held = set.held.get(id);
  const isOverUnseen = seen?.id === id && !seen.known.some((values) => isAlike(values, valuesOf(held), given.change));
  const base = isOverUnseen ? seen.version : held.version;
  const entry = outbox.add({ kind: "operation", annotation: id, base, before, isOverUnseen, ...given });
  if (given.change === "undo") undoable = undoable.filter((each) => each.operation !== given.undoes);
  else undoable.push({ operation: entry.operation, annotation: id, before });
  tell("changed", { annotation: id });
  return entry;
}

export const canUndo = () => undoable.length > 0 || isUndoStale;

// Another window made changes of its own, which can be undone here as well: the site knows them all.
// Answers false where the person went on meanwhile: what was meant to be undone is not the newest any more.
export async function catchUpWithUndo(read) {
  if (!isUndoStale) return true;
  const made = changesMade;
  const known = await read().catch(() => null);
  if (made !== changesMade) return false;
  // Without the site, what was done here can still be undone.
  if (!known) return true;
  undoable = [...known.undo];
  isUndoStale = false;
  recall();
  return true;
}

// Takes back the newest change of the set that was not taken back yet; answers where that was.
export function undo() {
  const last = undoable.at(-1);
  if (!last) return null;
  change(last.annotation, { change: "undo", undoes: last.operation, ...last.before });
  return last.annotation;
}

// After a load, what waited in this browser belongs to the past that can be undone as well.
export function recall() {
  const known = new Set(undoable.map((each) => each.operation));
  for (const entry of outbox.entries()) {
    if (entry.change === "undo") undoable = undoable.filter((each) => each.operation !== entry.undoes);
    else if (!known.has(entry.operation)) undoable.push({ operation: entry.operation, annotation: entry.annotation, before: entry.before });
  }
}

function isAlike(one, other, kind) {
  const overwritten = kind === "note" ? ["note"] : ["mark", "score", "problem", "problem_text"];
  return overwritten.every((name) => (one[name] ?? "") === (other[name] ?? ""));
}

function forget(operations) {
  const gone = new Set(operations);
  undoable = undoable.filter((each) => !gone.has(each.operation));
}

// Takes what the site says, unless something newer is known already; answers whether it was news.
export function learn(annotation) {
  const known = set.held.get(annotation.id);
  if (!known || annotation.version < known.version) return false;
  const isNews = annotation.version > known.version;
  set.held.set(annotation.id, { ...known, ...annotation });
  return isNews;
}

export function learnFromElsewhere(annotation) {
  const isNews = learn(annotation);
  isUndoStale ||= isNews && !outbox.touches(annotation.id);
  return isNews;
}

export function valuesOf(annotation) {
  return Object.fromEntries(VALUES.map((name) => [name, annotation[name] ?? (name === "note" || name === "score" ? null : "")]));
}

function after(values, entry) {
  const cleared = { mark: "", score: null, problem: "", problem_text: "" };
  // A blank note alone is no sign that somebody reviewed the outcome; a mark is.
  if (entry.change === "note") return { ...values, note: entry.note || (isDecided(values) ? "" : null) };
  if (entry.change === "clear") return { ...values, ...cleared, note: values.note || null };
  if (entry.change === "undo") return Object.fromEntries(VALUES.map((name) => [name, entry[name]]));
  const note = values.note ?? "";
  if (entry.change === "mark") return { ...values, ...cleared, mark: entry.mark, note };
  if (entry.change === "score") return { ...values, ...cleared, score: entry.score, note };
  return { ...values, ...cleared, mark: "error", problem: entry.problem, problem_text: entry.problem_text };
}
