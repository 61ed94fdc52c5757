// store.js – keeps the outbox in IndexedDB; in memory where a browser has none, and says so.
const NAME = "proofroom-outbox";
const TABLE = "entries";

export async function openStore(box) {
  try {
    return new KeptStore(await opened(), box);
  } catch {
    return new PassingStore();
  }
}

export function passingStore(entries) {
  const store = new PassingStore();
  for (const entry of entries) store.add(entry);
  return store;
}

class KeptStore {
  isKept = true;

  constructor(base, box) {
    this.base = base;
    this.box = box;
  }

  // Entries get rising numbers, so the order of adding is the order of sending, over all windows.
  async add(entry) {
    const kept = { ...entry, box: this.box };
    entry.number = await this.#do("readwrite", (table) => table.add(kept));
    return entry;
  }

  all() {
    return this.#do("readonly", (table) => table.index("box").getAll(this.box));
  }

  // One transaction, so that an answer of the site is taken in whole or not at all.
  change({ put = [], remove = [] }) {
    return this.#do("readwrite", (table) => {
      for (const number of remove) table.delete(number);
      for (const entry of put) table.put({ ...entry, box: this.box });
    });
  }

  #do(mode, work) {
    return new Promise((done, failed) => {
      const transaction = this.base.transaction(TABLE, mode, { durability: "strict" });
      const asked = work(transaction.objectStore(TABLE));
      transaction.oncomplete = () => done(asked?.result);
      transaction.onerror = () => failed(transaction.error);
      transaction.onabort = () => failed(transaction.error);
    });
  }
}

class PassingStore {
  isKept = false;
  #entries = new Map();
  #number = 0;

  async add(entry) {
    // Below zero: an answer that is on its way while the store changes names numbers of the kept one.
    entry.number = --this.#number;
    this.#entries.set(entry.number, entry);
    return entry;
  }

  async all() {
    return [...this.#entries.values()];
  }

  async change({ put = [], remove = [] }) {
    for (const number of remove) this.#entries.delete(number);
    for (const entry of put) this.#entries.set(entry.number, entry);
  }
}

function opened() {
  return new Promise((done, failed) => {
    const asked = indexedDB.open(NAME, 1);
    asked.onupgradeneeded = () => {
      const table = asked.result.createObjectStore(TABLE, { keyPath: "number", autoIncrement: true });
      table.createIndex("box", "box");
    };
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => failed(asked.error);
    asked.onblocked = () => failed(new Error("blocked"));
  });
}
