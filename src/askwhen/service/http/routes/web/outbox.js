// Answers on their way. Each is stored in the browser's database before it is sent, with a key that makes it count once,
// and sent again until the service confirms it, from any page, whether or not this one is still open.

import { Refused, call, isPassing, isStillHere, ours, session, streamPath } from "./api.js";

const STORE = "answers";
const NO_PAUSE = 50;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;

let opened = null;
const inMemory = new Map(); // where there is no database: safe only once it is sent

function database() {
  opened ??= new Promise((resolve) => {
    let request;
    try {
      request = indexedDB.open(ours("askwhen"), 1);
    } catch {
      resolve(null);
      return;
    }
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "key" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => resolve(null);
    request.onblocked = () => resolve(null);
  });
  return opened;
}

async function transact(mode, act) {
  const found = await database();
  if (found === null) throw new Error("no database");
  return new Promise((resolve, reject) => {
    const transaction = found.transaction(STORE, mode, { durability: mode === "readwrite" ? "strict" : "default" });
    const request = act(transaction.objectStore(STORE));
    transaction.commit?.(); // at once: a tab that is closed now must not take it back
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
}

async function stored() {
  const kept = await transact("readonly", (store) => store.getAll()).catch(() => []);
  return [...kept, ...inMemory.values()].sort((a, b) => a.at - b.at || a.order - b.order);
}

// Number of a user's answers that wait in this browser.
export async function unsent(name) {
  return (await stored()).filter((entry) => entry.who === name && !entry.refused).length;
}

let order = 0;

export class Outbox {
  // told: { changed(state), sent(entry, receipt), refused(entry, why) }
  constructor(told = {}) {
    this.told = told;
    this.entries = [];
    this.state = { waiting: 0, refused: [], missing: 0, reachable: true, signedIn: true, kept: true };
    this.sending = null;
    this.pause = NO_PAUSE;
    this.inFlight = null;
    this.fresh = new Set(); // given on this page, and not tried yet
    this.missing = new Set(); // whose stream was not found the last time
    this.onTheWay = new Map(); // not on the disk yet, so not to be sent yet
    this.channel = new BroadcastChannel(ours("askwhen outbox"));
    this.channel.onmessage = () => this.look();
    addEventListener("online", () => this.flush());
    addEventListener("pageshow", (event) => event.persisted && this.flush());
    this.ready = this.look(); // what an earlier page has left
    this.flush();
  }

  mine(entry) {
    return session.open || entry.who === this.whose;
  }

  pending(stream) {
    return this.entries.filter((entry) => entry.stream === stream && !entry.refused);
  }

  // Keep an answer; done when it is on the disk, or known to be nowhere but in memory.
  async add(given) {
    const entry = { ...given, who: session.name, at: Date.now(), order: order++, tried: false, refused: "" };
    this.entries.push(entry);
    this.onTheWay.set(entry.key, entry);
    this.fresh.add(entry.key);
    this.say();
    try {
      await transact("readwrite", (store) => store.put(entry));
    } catch {
      inMemory.set(entry.key, entry);
      this.state.kept = false;
      this.say();
    }
    if (!this.onTheWay.delete(entry.key)) return entry; // recalled meanwhile
    this.channel.postMessage("new");
    this.flush();
    return entry;
  }

  async drop(key) {
    this.entries = this.entries.filter((entry) => entry.key !== key);
    inMemory.delete(key);
    this.missing.delete(key);
    this.onTheWay.delete(key);
    await transact("readwrite", (store) => store.delete(key)).catch(() => null);
    this.channel.postMessage("gone");
    this.say();
  }

  has(entry) {
    return this.entries.some((each) => each.key === entry.key);
  }

  // Take back what was never sent; whether that was in time. A reply may have been lost: what was tried once may be there.
  // No other page may be sending it meanwhile.
  async recall(entry) {
    if (this.inFlight || !this.has(entry)) return false;
    const take = async (lock) => {
      if (!lock) return false;
      await this.look();
      if (this.entries.find((each) => each.key === entry.key)?.tried !== false) return false;
      await this.drop(entry.key);
      return true;
    };
    return (await (navigator.locks ? navigator.locks.request(ours("askwhen outbox"), { ifAvailable: true }, take) : take(true))) ?? false;
  }

  async look() {
    this.whose = session.name ?? this.whose; // a user who must sign in again still has their earlier answers
    const found = (await stored()).filter((entry) => this.mine(entry) && !this.onTheWay.has(entry.key));
    this.entries = [...found, ...this.onTheWay.values()];
    this.say();
  }

  say() {
    this.state.waiting = this.entries.filter((entry) => !entry.refused).length;
    this.state.refused = this.entries.filter((entry) => entry.refused);
    this.state.missing = this.entries.filter((entry) => this.missing.has(entry.key)).length;
    this.told.changed?.(this.state);
  }

  // Send everything, oldest first; one page at a time does it. Called whenever there may be a way.
  flush() {
    this.sending ??= this.locked().finally(() => {
      this.sending = null;
      this.plan();
    });
    return this.sending;
  }

  async locked() {
    if (!navigator.locks) return this.send();
    return navigator.locks.request(ours("askwhen outbox"), { ifAvailable: true }, (lock) => {
      if (lock) return this.send();
      this.pause = FIRST_PAUSE;
      return this.look();
    });
  }

  // A timer, not the browser's word for being online: that stays true when only the service is gone.
  plan() {
    clearTimeout(this.timer);
    const pause = this.state.waiting === this.state.missing ? LONGEST_PAUSE : this.pause;
    if (this.state.waiting && this.state.signedIn) this.timer = setTimeout(() => this.flush(), pause);
  }

  async send() {
    await this.look();
    const tried = new Set();
    for (;;) {
      const entry = this.entries.find((each) => !each.refused && !this.onTheWay.has(each.key) && !tried.has(each.key));
      if (!entry) return;
      this.inFlight = entry.key;
      tried.add(entry.key);
      try {
        const receipt = await deliver(entry, this.fresh.delete(entry.key));
        Object.assign(this.state, { reachable: true, signedIn: true });
        this.pause = NO_PAUSE;
        await this.drop(entry.key);
        this.told.sent?.(entry, receipt);
      } catch (error) {
        if (!(await this.failed(entry, error))) return;
      } finally {
        this.inFlight = null;
      }
    }
  }

  // What to do about an answer that was not taken; whether to go on with the next one.
  async failed(entry, error) {
    if (!entry.tried && navigator.onLine) { // without a network nothing can have come anywhere
      entry.tried = true;
      await transact("readwrite", (store) => store.put(entry)).catch(() => null);
    }
    if (isPassing(error)) {
      this.state.reachable = false;
      this.pause = Math.min(Math.max(2 * this.pause, FIRST_PAUSE), LONGEST_PAUSE);
      this.say();
      return false;
    }
    this.state.reachable = true;
    if (error.status === 401 || (error.status === 422 && !(await isStillHere().catch(() => false)))) {
      this.state.signedIn = false;
      this.say();
      return false;
    }
    if (!(error instanceof Refused)) throw error;
    if (error.status === 404 && error.problem.owner === "stream") {
      this.missing.add(entry.key); // it may have another name for a while
      this.say();
      return true;
    }
    entry.refused = error.message;
    await transact("readwrite", (store) => store.put(entry)).catch(() => null);
    this.say();
    this.told.refused?.(entry, error.message);
    return true;
  }
}

// The stream may have been renamed meanwhile, and its name given to another stream, whose questions have the same numbers.
async function checkStream(entry) {
  if (entry.opened === undefined) return;
  const found = await call("GET", streamPath(entry.stream, `/questions/${entry.question}`)).catch((error) => {
    if (error.problem?.owner === "question") return entry;
    throw error;
  });
  if (found.opened !== entry.opened) throw new Refused(409, { detail: `the stream ${entry.stream} is a different one now.` });
}

async function deliver(entry, isFresh) {
  const path = streamPath(entry.stream, `/questions/${entry.question}/${entry.act}`);
  const annotator = { annotator: entry.who };
  if (entry.act === "skip") {
    try {
      if (!isFresh) await checkStream(entry);
      return await call("POST", path, annotator);
    } catch (error) {
      if (error instanceof Refused && [404, 409].includes(error.status)) return null; // the question is closed
      throw error;
    }
  }
  if (!isFresh) await checkStream(entry);
  const body = { label: entry.label, unsure: entry.label === null, key: entry.key, lead: entry.lead, ...annotator };
  return call("POST", path, body);
}

// What is safe, and what is not yet, in words.
export function inWords(state) {
  const some = `${state.waiting} ${state.waiting === 1 ? "answer" : "answers"}`;
  const refused = state.refused.length;
  if (!state.waiting && refused) {
    return { safe: false, text: `${refused} ${refused === 1 ? "answer was" : "answers were"} not taken. All others are safe on the server.` };
  }
  if (!state.waiting) return { safe: true, text: "All your answers are safe on the server." };
  if (!state.kept) {
    return { safe: false, text: `Not safe yet: this browser keeps nothing, and ${some} must still be sent. Keep this page open.` };
  }
  const where = state.waiting === 1 ? "It is kept in this browser" : "They are kept in this browser";
  if (!state.signedIn) return { safe: false, text: `${some} not sent: sign in again. ${where}.` };
  if (!state.reachable) {
    return { safe: false, text: `The server cannot be reached. ${some} not sent yet. ${where}, and sent automatically as soon as the server can be reached; you may close this page.`
      .replace("browser, and sent by itself", state.waiting === 1 ? "browser, and is sent by itself" : "browser, and are sent by themselves") };
  }
  if (state.missing === state.waiting) return { safe: false, text: `${some} not sent: the stream has been renamed, or you are no longer asked in it. ${where}.` };
  return { safe: true, text: `Sending ${some}. ${where} meanwhile.` };
}

