// outbox.js – every change is written down here first, and sent in order by one window at a time.
import { Refused, SignedOut, Unreachable, post, postForm } from "./api.js";
import { bus, tell } from "./bus.js";
import { openStore, passingStore } from "./store.js";

const MOST_OPERATIONS = 100;
const MOST_TIMES = 100;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30000;
export const State = { WAITING: "waiting", CONFLICT: "conflict", REFUSED: "refused" };
const FIELDS = ["operation", "annotation", "change", "mark", "score", "problem", "problem_text", "note", "undoes", "made_at"];

class Outbox {
  isOffline = false;
  isOver = false;
  needsSignIn = false;
  #mine = [];
  #touched = null;
  #elsewhere = 0;
  #made = new Map();
  #tab = crypto.randomUUID();
  #store = null;
  #box = "";
  #address = "";
  #others = null;
  #flushing = null;
  #isAskedAgain = false;
  #retry = 0;
  #wait = FIRST_WAIT_MS;
  #place = () => ({});
  #adding = Promise.resolve();

  async open({ user, assignment, place }) {
    this.#box = `${user}:${assignment}`;
    this.#address = `/api/v1/assignments/${assignment}`;
    this.#place = place;
    // Held as long as this window lives: what a closed window left behind is free to be taken up.
    navigator.locks.request(this.#lock(this.#tab), () => new Promise(() => {}));
    this.#others = new BroadcastChannel(`proofroom-outbox:${this.#box}`);
    this.#others.onmessage = ({ data }) => this.#learn(data, { isOwn: false });
    this.#store = await openStore(this.#box);
    await this.adopt();
    window.addEventListener("online", () => this.#soon());
    window.addEventListener("focus", () => this.#soon());
    document.addEventListener("visibilitychange", () => document.hidden || this.#soon());
    bus.addEventListener("signed-out", () => { this.needsSignIn = true; this.#changed(); });
    bus.addEventListener("signed-in", () => { this.needsSignIn = false; this.#soon(); });
    this.flush();
  }

  get isKept() {
    return this.#store?.isKept ?? true;
  }

  // Whether something that waits for the person's choice would go with this window.
  get isLostOnLeaving() {
    return !this.isKept && this.#mine.some((entry) => entry.kind !== "time");
  }

  // How many changes the site has not taken, those of other windows of this browser included.
  get waiting() {
    return this.#mine.filter(isChange).length + this.#elsewhere;
  }

  // What this window added and the site has not taken yet, oldest first.
  entries({ kind = "operation", annotation = null, state = null } = {}) {
    return this.#mine.filter(
      (entry) => entry.kind === kind
        && (annotation === null || entry.annotation === annotation)
        && (state === null || entry.state === state),
    );
  }

  // Whether anything of this window waits on an annotation.
  touches(annotation) {
    this.#touched ??= new Set(this.entries().map((entry) => entry.annotation));
    return this.#touched.has(annotation);
  }

  // Shown at once, kept before it is sent. An operation names the version it was made upon (`base`), or
  // follows the one that waits before it on the same annotation and takes the version that one makes.
  add(given) {
    const entry = { state: State.WAITING, tab: this.#tab, operation: crypto.randomUUID(), ...given };
    if (entry.kind === "operation") {
      entry.made_at = new Date().toISOString();
      const before = this.entries({ annotation: entry.annotation }).filter((each) => each.state !== State.REFUSED).at(-1);
      entry.behind = entry.isOverUnseen ? null : (before?.operation ?? null);
      // What follows a conflict belongs to it, until the person has chosen.
      if (before?.state === State.CONFLICT) entry.state = State.CONFLICT;
    }
    this.#mine.push(entry);
    this.#changed();
    this.#adding = this.#adding.then(() => this.#keep(entry)).then(() => { this.flush(); });
    return entry;
  }

  flush() {
    if (this.#flushing) this.#isAskedAgain = true;
    this.#flushing ??= this.#flush().finally(() => { this.#flushing = null; });
    return this.#flushing;
  }

  // Resolves once everything was tried; tells whether nothing waits any more.
  async settle() {
    await this.#adding;
    await this.flush();
    return this.waiting === 0;
  }

  async #keep(entry) {
    try {
      await this.#store.add(entry);
    } catch {
      // A full disk or a private window: go on in memory, and the page says not to close it.
      this.#store = passingStore(this.#mine);
      this.#changed();
    }
  }

  async #flush() {
    if (!this.#store || this.isOver) return;
    try {
      do {
        this.#isAskedAgain = false;
        await navigator.locks.request(this.#lock("flush"), async () => {
          while (await this.#sendNext()) this.reached();
        });
      } while (this.#isAskedAgain && !this.isOver);
    } catch (error) {
      this.#met(error);
    }
    await this.#count();
  }

  async #sendNext() {
    const all = await this.#straightened(await this.#store.all());
    const entries = all.filter((entry) => entry.state === State.WAITING);
    const operations = entries.filter((entry) => entry.kind === "operation");
    if (operations.length) return this.#sendOperations(firstOfEach(operations));
    const times = entries.filter((entry) => entry.kind === "time").slice(0, MOST_TIMES);
    if (times.length) return this.#sendTimes(times);
    const picture = entries.find((entry) => entry.kind === "picture");
    return picture ? this.#sendPicture(picture) : false;
  }

  // An operation may be written down while the one before it is being answered: give it what it missed.
  async #straightened(all) {
    const byOperation = new Map(all.map((entry) => [entry.operation, entry]));
    const changed = [];
    for (const entry of all) {
      if (!entry.behind || entry.state !== State.WAITING) continue;
      const before = byOperation.get(entry.behind);
      if (this.#made.has(entry.behind)) Object.assign(entry, { base: this.#made.get(entry.behind), behind: null });
      else if (before?.state === State.CONFLICT) entry.state = State.CONFLICT;
      else if (before?.state === State.REFUSED) Object.assign(entry, { base: before.base, behind: before.behind });
      else continue;
      changed.push(entry);
    }
    if (changed.length) {
      await this.#store.change({ put: changed });
      this.#share({ changed });
    }
    return all;
  }

  async #sendOperations(batch) {
    let answer;
    try {
      answer = await post(`${this.#address}/operations`, { operations: batch.map(asSent) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 403 || error.status === 404) return this.#over(error.message);
      // One that cannot be read must not hold up the others: they go one by one, and it alone stays.
      if (batch.length > 1) {
        for (const entry of batch) await this.#sendOperations([entry]);
        return true;
      }
      answer = { results: [{ operation: batch[0].operation, status: "refused", detail: error.message }] };
    }
    // A closed set refuses what was not saved before; that waits here, in case the set is opened again.
    const { closed } = answer;
    const results = closed ? answer.results.filter((result) => result.status !== "refused") : answer.results;
    await this.#take(results);
    return closed ? this.#over(closed) : true;
  }

  async #take(results) {
    const all = (await this.#store.all()).filter((entry) => entry.kind === "operation");
    const byOperation = new Map(all.map((entry) => [entry.operation, entry]));
    const changed = [];
    const remove = [];
    for (const result of results) {
      const entry = byOperation.get(result.operation);
      if (!entry) continue;
      if (result.status === "saved") {
        this.#made.set(entry.operation, versionOf(result));
        remove.push(entry.number);
        // Kept with the answer: a page that is closed here knows after a load what its next change is made upon.
        for (const next of all) {
          if (next.behind !== entry.operation) continue;
          changed.push(Object.assign(next, { base: versionOf(result), behind: null }));
        }
      } else if (result.status === "conflict") {
        changed.push(Object.assign(entry, { state: State.CONFLICT }));
      } else {
        changed.push(Object.assign(entry, { state: State.REFUSED, detail: result.detail }));
      }
    }
    await this.#store.change({ put: changed, remove });
    this.#share({ results, changed });
  }

  async #sendTimes(times) {
    const sent = times.map(({ operation, annotation, milliseconds }) => ({ operation, annotation, milliseconds }));
    const answer = await this.#presence(sent);
    if (answer) await this.#store.change({ remove: times.map((entry) => entry.number) });
    if (answer) this.#share({ gone: times.map((entry) => entry.operation) });
    return Boolean(answer);
  }

  async #presence(times) {
    try {
      const answer = await post(`${this.#address}/presence`, { times, place: this.#place() });
      tell("presence", answer);
      return answer;
    } catch (error) {
      if (error instanceof Refused && (error.status === 403 || error.status === 404)) return this.#over(error.message);
      throw error;
    }
  }

  // Says that the person is here; also carries the times that wait.
  async present() {
    if (!this.#store || this.isOver) return;
    if (this.#mine.some((entry) => entry.state === State.WAITING)) {
      await this.flush();
      return;
    }
    try {
      if (await this.#presence([])) this.reached();
    } catch (error) {
      this.#met(error);
    }
  }

  async #sendPicture(entry) {
    const form = new FormData();
    for (const name of ["operation", "annotation", "source"]) form.append(name, entry[name]);
    form.append("file", entry.blob, entry.name ?? "picture.png");
    try {
      const picture = await postForm(`${this.#address}/pictures`, form);
      await this.#store.change({ remove: [entry.number] });
      this.#share({ gone: [entry.operation], picture: { annotation: entry.annotation, picture } });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      Object.assign(entry, { state: State.REFUSED, detail: error.message });
      await this.#store.change({ put: [entry] });
      this.#share({ changed: [entry] });
    }
    return true;
  }

  // What the person gave up, or makes anew upon what is saved.
  async withdraw(entries) {
    await this.#drop(entries);
  }

  // Entries that the site refused stay until the person has read why.
  async dismiss() {
    await this.#drop(this.#mine.filter((entry) => entry.state === State.REFUSED));
  }

  async #drop(entries) {
    await this.#adding;
    const gone = entries.map((entry) => entry.operation);
    await this.#store.change({ remove: entries.map((entry) => entry.number) });
    this.#share({ gone });
  }

  // Takes up what closed windows left behind, in their order.
  async adopt() {
    if (!this.#store) return;
    const { held } = await navigator.locks.query();
    const living = new Set(held.map((lock) => lock.name));
    const orphans = (await this.#store.all()).filter(
      (entry) => entry.tab === this.#tab || !living.has(this.#lock(entry.tab)),
    );
    for (const entry of orphans) entry.tab = this.#tab;
    await this.#store.change({ put: orphans });
    const known = new Set(this.#mine.map((entry) => entry.operation));
    this.#mine.unshift(...orphans.filter((entry) => !known.has(entry.operation)));
    await this.#count();
  }

  // Everything that the site has not taken, as data for a file.
  async unsent() {
    return (await this.#store.all()).map(({ blob, box, tab, number, ...rest }) => ({ ...rest, bytes: blob?.size }));
  }

  #share(news) {
    this.#others.postMessage(news);
    this.#learn(news, { isOwn: true });
  }

  #learn({ results = [], changed = [], gone = [], picture = null }) {
    const byOperation = new Map(changed.map((entry) => [entry.operation, entry]));
    const settled = new Set(gone);
    for (const result of results) {
      if (result.status !== "saved") continue;
      settled.add(result.operation);
      this.#made.set(result.operation, versionOf(result));
    }
    this.#mine = this.#mine.filter((entry) => !settled.has(entry.operation));
    this.#touched = null;
    for (const entry of this.#mine) {
      const now = byOperation.get(entry.operation);
      if (now) Object.assign(entry, { state: now.state, detail: now.detail, behind: now.behind, base: now.base });
    }
    for (const result of results) {
      if (result.status === "saved") tell("saved", result);
      if (result.status === "conflict") tell("conflict", result);
    }
    if (picture) tell("picture-saved", picture);
    this.#changed();
    this.#count();
  }

  async #count() {
    const others = (await this.#store.all()).filter((entry) => entry.tab !== this.#tab);
    this.#elsewhere = others.filter(isChange).length;
    this.#changed();
  }

  reached() {
    clearTimeout(this.#retry);
    this.#wait = FIRST_WAIT_MS;
    if (this.needsSignIn) tell("signed-in");
    if (!this.isOffline) return;
    this.isOffline = false;
    tell("online");
    this.#changed();
  }

  lost() {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.present(), this.#wait * (0.75 + Math.random() / 2));
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    if (this.isOffline) return;
    this.isOffline = true;
    tell("offline");
    this.#changed();
  }

  #met(error) {
    if (error instanceof Unreachable) this.lost();
    else if (!(error instanceof SignedOut)) throw error;
  }

  #over(detail) {
    this.isOver = true;
    tell("closed", { detail });
    return false;
  }

  // Whether the set takes changes: what waits is sent once it is opened again.
  setOver(isOver) {
    const wasOver = this.isOver;
    this.isOver = isOver;
    if (wasOver && !isOver) this.flush();
  }

  #soon() {
    this.#wait = FIRST_WAIT_MS;
    this.adopt().then(() => this.present());
  }

  #lock(name) {
    return `proofroom-outbox:${this.#box}:${name}`;
  }

  #changed() {
    this.#touched = null;
    tell("outbox");
  }
}

export const outbox = new Outbox();

// The longest beginning of the queue in which no annotation comes twice: the version that a follower
// builds upon is known only from the answer to the one before it.
function firstOfEach(operations) {
  const seen = new Set();
  const batch = [];
  for (const entry of operations) {
    if (seen.has(entry.annotation) || batch.length === MOST_OPERATIONS) break;
    seen.add(entry.annotation);
    batch.push(entry);
  }
  return batch;
}

function isChange(entry) {
  return entry.state === State.WAITING && entry.kind !== "time";
}

function versionOf(result) {
  return result.version ?? result.annotation.version;
}

function asSent(entry) {
  const sent = { base: entry.base };
  for (const name of FIELDS) if (entry[name] !== undefined) sent[name] = entry[name];
  return sent;
}
