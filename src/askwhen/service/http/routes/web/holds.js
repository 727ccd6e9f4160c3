// Which questions this tab has in hand. A person may have two tabs open, to whom the service may give the same question:
// each takes the browser's lock on its own, which is free again however the tab ends, and says what was answered.

import { ours, session } from "./api.js";

const locks = new Map(); // by the name of a question, what gives its lock back
const answered = new Map(); // in any tab, and when
const FRESH = 3000; // milliseconds in which the service may still give a question that was answered
const channel = new BroadcastChannel(ours("askwhen questions"));
channel.onmessage = ({ data: [place, isAnswered] }) => (isAnswered ? answered.set(place, performance.now()) : answered.delete(place));

const named = (stream, question) => `${ours("askwhen question")} ${JSON.stringify([session.name, stream, question])}`;

const isFresh = (place) => performance.now() - (answered.get(place) ?? -Infinity) < FRESH;

// Whether no other tab has it or just answered it; then it is this one's until it is let go.
export function hold(stream, question) {
  const place = named(stream, question);
  if (isFresh(place)) return Promise.resolve(false);
  if (!navigator.locks || locks.has(place)) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks.request(place, { ifAvailable: true }, (lock) => {
      const mine = lock !== null && !isFresh(place);
      resolve(mine);
      return mine && new Promise((free) => locks.set(place, free));
    }).catch(() => resolve(true));
  });
}

// Whether it was just answered, here or in another tab.
export const wasAnswered = (stream, question) => isFresh(named(stream, question));

// Done when no other tab has it any more.
export function freed(stream, question) {
  return navigator.locks?.request(named(stream, question), () => null).catch(() => null) ?? new Promise(() => null);
}

// It is answered: no tab shows it. Its lock stays until the service has the answer.
export function finish(stream, question) {
  mark(named(stream, question), true);
}

// The answer was taken back.
export function takeBack(stream, question) {
  mark(named(stream, question), false);
  return hold(stream, question);
}

function mark(place, isAnswered) {
  channel.onmessage({ data: [place, isAnswered] });
  channel.postMessage([place, isAnswered]);
}

export function letGo(stream, question) {
  const place = named(stream, question);
  locks.get(place)?.();
  locks.delete(place);
}
