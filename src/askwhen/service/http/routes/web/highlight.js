// Matches of a pattern, found in a worker that is stopped when it takes too long: a browser's engine can take hours for
// some patterns on texts that were made for them, and nothing else in the tab would run meanwhile.

const MOST_TIME = 1000; // milliseconds
const MARKER = new URL("./marker.js", import.meta.url).href;
const trusted = globalThis.trustedTypes?.createPolicy("askwhen-marker", { createScriptURL: () => MARKER });

const tooSlow = new Set();
let worker = null;
let turn = Promise.resolve();

// The beginning and end of each match; none of a pattern that took too long once.
export function matches(text, pattern, flags, most) {
  turn = turn.then(() => (tooSlow.has(pattern) ? [] : found({ text, pattern, flags, most })));
  return turn;
}

async function found(job) {
  try {
    worker ??= started();
    await worker.ready; // loading it does not count
    const reply = message(worker.inner);
    worker.inner.postMessage(job);
    const places = await Promise.race([reply, after(MOST_TIME)]);
    if (places) return places;
    tooSlow.add(job.pattern);
  } catch {
    // without a worker nothing is marked
  }
  worker?.inner.terminate();
  worker = null;
  return [];
}

function started() {
  const inner = new Worker(trusted ? trusted.createScriptURL("") : MARKER);
  return { inner, ready: message(inner) };
}

function message(inner) {
  return new Promise((resolve, reject) => {
    inner.onmessage = (event) => resolve(event.data);
    inner.onerror = reject;
  });
}

const after = (time) => new Promise((resolve) => { setTimeout(resolve, time, null); });
