// The buttons of all labels, and a field that finds some of them by what is typed, beside the question.

import { el, plural, put } from "./dom.js";
import { coloursOf, swatch } from "./colours.js";
import { keymap, ownLetters } from "./keys.js";
import { inText, isNumber, numberIn, numberWanted, pieces } from "./label_field.js";
import { found } from "./label_search.js";

const FEW = 12; // with more labels than this, the field to find them is always shown
const MANY = 24; // and with more than this, they are beside the question where there is space
const FLASH = 500; // milliseconds in which a chosen label is marked
const [NARROW, WIDE] = [110, 150]; // least width of a button, with many labels and with few
const AROUND = 26; // its padding and border
const KEY = 34; // the space of a key

export class LabelPanel {
  // chosen(label): a label was pressed, or found and taken; where several may apply, the list that was sent.
  constructor(stream, name, chosen) {
    Object.assign(this, { stream, chosen });
    this.labels = [];
    this.guessed = null;
    this.isIdle = true;
    this.field = el("input", { id: "find-label", type: "text", autocomplete: "off", spellcheck: "false", autocapitalize: "off", enterkeyhint: "go",
      dir: "auto", "aria-describedby": "found-labels", "aria-controls": "labels", oninput: () => { this.at = 0; this.show(); }, onkeydown: (event) => this.typed(event),
      onblur: () => this.away() });
    this.status = el("span", { id: "found-labels", role: "status", class: "read" });
    this.title = el("label", { for: "find-label" }, "Find");
    this.find = el("div", { class: "find-label" }, this.title, this.field, this.status);
    this.buttons = el("div", { class: "labels", id: "labels", role: "group", "aria-label": name });
    this.picked = new Set();
    this.send = el("button", { type: "button", class: "main send", hidden: true, "aria-keyshortcuts": "Enter", onclick: () => this.give() });
    this.element = el("div", { class: "label-panel" }, this.find, this.buttons, this.send);
    this.keys = keymap([], {});
    this.at = 0;
    addEventListener("resize", () => this.measure());
  }

  // Show these labels; a label that was known before keeps its place.
  learn(labels, settings) {
    Object.assign(this, { labels, settings });
    this.isOpen = settings.labels === "open";
    this.several = settings.several;
    this.number = isNumber(settings);
    this.send.hidden = !settings.several && !this.number;
    this.buttons.hidden = this.number;
    put(this.title, this.number ? "Number" : "Find");
    this.field.inputMode = this.number ? "decimal" : "text";
    if (this.number) put(this.send, "Give the number", el("kbd", { "aria-hidden": "true" }, "Enter"));
    this.keys = keymap(labels, ownLetters(this.stream));
    this.colours = coloursOf(labels, settings.colours);
    this.element.dataset.size = labels.length <= FEW ? "few" : labels.length <= MANY ? "some" : "many";
    this.find.hidden = labels.length <= FEW && !this.isOpen && !this.number;
    this.made = new Map(labels.map((label) => [label, this.button(label)]));
    this.show();
    this.measure();
  }

  button(label, isNew = false) {
    const keys = isNew ? [] : this.keys.shown.get(label);
    const about = this.settings.about[label];
    return el("button", { type: "button", class: `label${isNew ? " new" : ""}`, title: about || null, "aria-keyshortcuts": keys.join(" ") || null,
      "aria-disabled": String(this.isIdle), onclick: () => this.take(label) },
    swatch(isNew ? null : this.colours.get(label)), keys.map((key) => el("kbd", { "aria-hidden": "true" }, key)),
    el("span", { class: "word", dir: "auto" }, pieces(label)), isNew && el("span", { class: "tag" }, "new"));
  }

  // Columns as wide as the longest word, so that none is broken.
  measure() {
    const pen = (this.pen ??= document.createElement("canvas").getContext("2d"));
    const first = this.buttons.querySelector(".word");
    if (!first) return;
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(first);
    pen.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    const words = new Set(this.labels.flatMap(wordsOf));
    const longest = Math.max(0, ...Array.from(words, (word) => pen.measureText(word).width));
    const marks = (this.buttons.querySelector("kbd:not([hidden])")?.offsetWidth ? KEY : 0) + (this.buttons.querySelector(".swatch") ? 25 : 0);
    const least = this.element.dataset.size === "many" ? NARROW : WIDE;
    this.buttons.style.setProperty("--column", `${Math.ceil(Math.max(longest + marks + AROUND, least))}px`);
  }

  // What is found by the text in the field, or all; the one that Enter takes is marked.
  show() {
    const text = this.field.value.trim();
    if (this.number) {
      put(this.status, text ? numberIn(text, this.settings) === null ? numberWanted(this.settings) : "" : this.guessed === null ? "" : `The model guesses ${inText(this.guessed, 4)}: Enter gives it.`);
      return;
    }
    this.listed = text ? found(this.labels, text) : this.labels;
    const isNew = this.isOpen && text && !this.labels.includes(text);
    if (isNew) {
      const same = this.listed.length && this.listed[0].toLocaleLowerCase() === text.toLocaleLowerCase();
      this.listed = this.listed.toSpliced(same ? 1 : 0, 0, text);
    }
    this.at = Math.min(this.at, Math.max(this.listed.length - 1, 0));
    put(this.buttons, this.listed.map((label) => this.made.get(label) ?? this.button(label, true)));
    for (const [label, button] of this.made) button.classList.toggle("guess", Array.isArray(this.guessed) ? this.guessed.includes(label) : label === this.guessed);
    this.mark();
    this.markPicked();
    const none = this.labels.length ? "No label has this in it." : this.isOpen ? "No label was given yet: type the first one." : "";
    put(this.status, text ? this.listed.length ? `${plural(this.listed.length, "label")}. Enter gives ${this.listed[this.at]}.` : none : this.labels.length ? "" : none);
  }

  markPicked() {
    if (!this.several) return;
    for (const [label, button] of this.made) button.setAttribute("aria-pressed", String(this.picked.has(label)));
    put(this.send, this.picked.size ? `Give ${plural(this.picked.size, "label")}` : "None of them", el("kbd", { "aria-hidden": "true" }, "Enter"));
  }

  // The labels that are picked are the answer, or the number that is typed.
  give() {
    if (this.number && !this.isIdle) {
      const found = numberIn(this.field.value, this.settings) ?? (this.field.value.trim() ? null : this.guessed);
      if (found === null) put(this.status, numberWanted(this.settings));
      else if (this.chosen(found) !== false) this.clear();
      return;
    }
    if (!this.isIdle && this.several) this.chosen([...this.picked].sort());
  }

  // Another question: nothing is picked, or what the model guesses.
  begin(guess) {
    this.picked = new Set(this.several && Array.isArray(guess) ? guess : []);
    this.guess(guess);
    if (this.number) this.show();
    this.markPicked();
  }

  // The first sign of a number, typed anywhere on the page.
  type(sign) {
    if (this.isIdle) return;
    this.field.value = sign;
    this.field.focus();
    this.show();
  }

  mark() {
    const active = this.field.value.trim() ? this.buttons.children[this.at] : null;
    for (const button of this.buttons.children) button.classList.toggle("active", button === active);
    active?.scrollIntoView({ block: "nearest" });
  }

  typed(event) {
    if (event.isComposing) return;
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (by && this.listed.length && this.field.value) {
      event.preventDefault();
      this.at = (this.at + by + this.listed.length) % this.listed.length;
      this.show();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.number) this.give();
      else if (this.field.value.trim() && this.listed.length) this.take(this.listed[this.at]);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.clear();
    }
  }

  // Ready to be typed into, also where the labels are few.
  open() {
    this.find.hidden = false;
    this.field.focus();
    this.field.select();
  }

  clear() {
    this.field.value = "";
    this.at = 0;
    this.field.blur();
    this.show();
  }

  away() {
    if (!this.field.value && this.labels.length <= FEW && !this.isOpen && !this.number) this.find.hidden = true;
  }

  take(label) {
    if (this.isIdle) return;
    if (this.several) {
      if (!this.picked.delete(label)) this.picked.add(label);
      if (this.field.value) this.clear();
      this.markPicked();
      return;
    }
    if (this.chosen(label) === false) return; // too soon, or not on the screen any more
    if (this.field.value || document.activeElement === this.field) this.clear();
  }

  // Without a question, labels can be reached and read, but not used.
  idle(yes) {
    this.isIdle = yes;
    for (const button of this.made?.values() ?? []) button.setAttribute("aria-disabled", String(yes));
  }

  guess(label) {
    this.guessed = label;
    const isGuess = (each) => (Array.isArray(label) ? label.includes(each) : each === label);
    for (const [each, button] of this.made ?? []) {
      button.classList.toggle("guess", isGuess(each));
      if (isGuess(each)) button.setAttribute("aria-description", "the model's guess");
      else button.removeAttribute("aria-description");
    }
    if (this.made?.get(label)?.isConnected) this.made.get(label).scrollIntoView({ block: "nearest" });
  }

  // What was chosen is seen for a moment.
  flash(label) {
    clearTimeout(this.flashing);
    for (const button of this.buttons.querySelectorAll(".chosen")) button.classList.remove("chosen");
    const buttons = [label].flat().map((each) => this.made?.get(each)).filter(Boolean);
    for (const button of buttons) button.classList.add("chosen");
    this.flashing = setTimeout(() => buttons.forEach((button) => button.classList.remove("chosen")), FLASH);
  }

  labelOf(key) {
    return this.keys.toLabel.get(key);
  }
}

const wordsOf = (label) => label.split(/\s+|(?<=[_\-./:])/u);
