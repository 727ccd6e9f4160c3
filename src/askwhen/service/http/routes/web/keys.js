// Which key means which label. Digits are given out in order, and letters after them; others are each person's own, kept
// in the browser.

const DIGITS = [..."1234567890"];
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
export const TAKEN = ["u", "s", "z", "/", "?", "p", "n"];

const place = (stream) => `askwhen keys ${stream}`;

export function ownLetters(stream) {
  try {
    return Object.assign(Object.create(null), JSON.parse(localStorage.getItem(place(stream)) ?? "{}")); // a label may be __proto__
  } catch {
    return Object.create(null);
  }
}

export function keepLetters(stream, letters) {
  localStorage.setItem(place(stream), JSON.stringify(letters));
}

// Why a letter cannot be had, or nothing.
export function whyNot(letter, label, letters) {
  if (letter === "") return "";
  if ([...letter].length !== 1 || /[\s\d]/u.test(letter)) return "One letter or sign, no digit.";
  if (TAKEN.includes(letter)) return `The key ${letter} has a meaning already.`;
  const other = Object.entries(letters).find(([name, each]) => each === letter && name !== label);
  return other ? `${letter} is the key of ${other[0]}.` : "";
}

// Two maps: from key to label, and from label to the keys that are shown on its button.
export function keymap(labels, letters) {
  const toLabel = new Map();
  const shown = new Map(labels.map((label) => [label, []]));
  labels.slice(0, 10).forEach((label, i) => {
    toLabel.set(DIGITS[i], label);
    shown.get(label).push(DIGITS[i]);
  });
  const others = labels.slice(10);
  for (const label of labels) {
    const letter = Object.hasOwn(letters, label) ? letters[label] : "";
    if (letter && !TAKEN.includes(letter) && !toLabel.has(letter)) {
      toLabel.set(letter, label);
      shown.get(label).push(letter);
    }
  }
  const without = others.filter((label) => !shown.get(label).length);
  const free = new Set(LETTERS.filter((letter) => !TAKEN.includes(letter) && !toLabel.has(letter)));
  const give = (label, letter) => {
    free.delete(letter);
    toLabel.set(letter, label);
    shown.get(label).push(letter);
  };
  for (const label of without.slice(0, free.size)) { // the letter that it begins with where that is free
    const first = label[0]?.toLocaleLowerCase();
    if (free.has(first)) give(label, first);
  }
  for (const label of without) {
    const [next] = free;
    if (next && !shown.get(label).length) give(label, next);
  }
  return { toLabel, shown };
}

// The key of an event, whatever the layout of the keyboard: where it gives no Latin letter, the place of the key counts.
export function keyOf(event) {
  const key = event.key;
  if (/^[a-z0-9/?]$/iu.test(key)) return /^[A-Z]$/u.test(key) ? key.toLowerCase() : key;
  if (event.code.startsWith("Numpad") && /\d$/.test(event.code)) return event.code.at(-1);
  if (event.code.startsWith("Digit") && !event.shiftKey) return event.code.at(-1);
  return key;
}

// For keys that have no label of their own: where they give a letter of another script, the one at the same place of a
// Latin keyboard.
export function latinOf(event) {
  const isOther = /^\p{L}$/u.test(event.key) && !/^\p{Script=Latin}$/u.test(event.key);
  return isOther && event.code.startsWith("Key") ? event.code.at(-1).toLowerCase() : "";
}

// Whether a key press is meant for the page, and not for a field, a window or the browser.
export function isForPage(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing) return false;
  if (document.querySelector("dialog[open]")) return false;
  return !event.target.closest?.("input, textarea, select, [contenteditable]");
}

// Milliseconds in which a new question cannot have been read: a key then was meant for the last one, a touch was its second.
const [TOO_SOON, DOUBLE] = [100, 250];
let shownAt = 0;

// A new question is there; it can be read only once it is painted.
export function nowShown() {
  shownAt = performance.now();
  requestAnimationFrame(() => { shownAt = performance.now(); });
}

export const secondsShown = () => (performance.now() - shownAt) / 1000;

// Compare with the time of the key press or touch, not with the current time: the page may have been busy meanwhile.
export function isTooSoon() {
  const { event } = window;
  return (event?.timeStamp ?? performance.now()) - shownAt < (event?.type === "click" ? DOUBLE : TOO_SOON);
}
