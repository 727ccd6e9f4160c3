// The labels of a file, and what each of them means in the stream.

import { el, plural, put } from "./dom.js";
import { choices } from "./fields.js";
import { isNumber, namesOf, numberIn } from "./label_field.js";
import { records } from "./readers.js";

const LOOKED_AT = 1000;
const MOST_SHOWN = 30;

// How often each label comes at the beginning of a file.
export async function look(file, format, stream, how) {
  const found = [];
  for await (const [record, , label] of records(file, format, stream, how)) {
    found.push([record, label]);
    if (found.length === LOOKED_AT) break;
  }
  return found;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const written = (value) => (value === undefined || value === null || value === "" ? null : value);

// The label of a record: from its column, or from where its format has it. A list of one is that label.
export function labelIn(record, label, column) {
  const found = written(column && isObject(record) ? record[column] : label);
  if (!Array.isArray(found)) return found === null ? null : String(found);
  return found.length === 1 ? String(found[0]) : null;
}

// The labels of a record where several may apply: a list, a JSON array, or a text in which ; | or , is between them.
export function labelsIn(record, label, column, known) {
  const found = written(column && isObject(record) ? record[column] : label);
  if (found === null || Array.isArray(found)) return found === null ? null : found.map(String);
  const text = String(found).trim();
  try {
    const list = JSON.parse(text);
    if (Array.isArray(list)) return list.map(String);
  } catch {
    // plain text
  }
  if (known.some((each) => each.toLowerCase() === text.toLowerCase())) return [text];
  const mark = [";", "|", ","].find((each) => text.includes(each));
  return mark ? text.split(mark).map((each) => each.trim()).filter(Boolean) : [text];
}

const USES = [["none", "Not used", "instances come without labels"],
  ["answers", "Answer with them", "questions about these instances are answered, in your name; instances are decided at once"],
  ["teach", "Learn them all", "the model also learns the labels of instances that are not asked about; instances are decided at once"],
  ["gold", "Make gold questions", "their labels are known: people get them among others, to see how good their answers are, and the model never learns them"],
  ["truth", "Measure with them", "they are not sent: predictions of these instances are compared with them, here in the browser"]];

export class Labels {
  // changed(use) is called when they are used for something else.
  constructor(settings, mayAnswer, mayReview, changed) {
    this.open = settings.labels === "open";
    this.settings = settings;
    this.known = namesOf(settings);
    this.meanings = new Map();
    this.changed = changed;
    this.column = "";
    this.found = [];
    this.means = el("div", {});
    this.uses = choices("labels-use", "What the labels in the file are for", USES.filter(([use]) => (use === "gold" ? mayReview : mayAnswer || use === "none" || use === "truth")), "none");
    this.uses.addEventListener("change", () => this.toggle());
    this.element = el("div", { hidden: true }, this.uses, this.means);
  }

  get use() {
    return this.element.hidden ? "none" : this.uses.querySelector("input:checked").value;
  }

  // Show the labels of a file: those in a column, or those that its format has a place for.
  show(found, column) {
    this.found = found;
    this.column = column;
    this.list();
  }

  hide() {
    this.found = [];
    this.element.hidden = true;
    this.uses.querySelector("input").checked = true;
    this.changed("none");
  }

  toggle() {
    this.means.hidden = this.use === "none";
    this.changed(this.use);
  }

  // Each label, and a choice of what it means.
  list() {
    const counts = new Map();
    for (const [record, label] of this.found) {
      for (const text of this.texts(record, label) ?? []) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    this.meanings = new Map([...counts.keys()].map((text) => [text, this.guess(text)]));
    this.element.hidden = !counts.size;
    this.toggle();
    const shown = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_SHOWN);
    if (isNumber(this.settings)) {
      put(this.means);
      return;
    }
    put(this.means, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, ["In the file", "Means"].map((text) => el("th", { scope: "col", class: "text" }, text)))),
      el("tbody", {}, shown.map(([text, times]) => el("tr", {}, el("th", { scope: "row", class: "text", dir: "auto" }, text,
        el("span", { class: "read" }, ` in ${plural(times, "row")}`)), el("td", { class: "text" }, this.choice(text)))))),
    counts.size > shown.length && el("p", { class: "read" }, `and ${plural(counts.size - shown.length, "other label")}, used where the stream has the same.`));
  }

  choice(text) {
    const options = this.open ? [text] : this.known;
    const made = el("select", { "aria-label": `What ${text} means`, onchange: () => this.meanings.set(text, made.value || null) },
      el("option", { value: "" }, "not used"), options.map((label) => el("option", { value: label }, label)));
    made.value = this.meanings.get(text) ?? "";
    return made;
  }

  // The labels of a record as they are written; null where it has none.
  texts(record, label) {
    if (this.settings.several) return labelsIn(record, label, this.column, this.known);
    const text = labelIn(record, label, this.column);
    return text === null ? null : [text];
  }

  guess(text) {
    if (this.open) return text;
    if (isNumber(this.settings)) return numberIn(text, this.settings);
    const same = (other) => other.toLowerCase() === text.toLowerCase();
    const negated = this.known.length === 2 && !this.settings.several ? this.known.findIndex((label) => same(`not ${label}`)) : -1;
    return this.known.find((label) => label === text) ?? this.known.find(same) ?? (negated < 0 ? null : this.known[1 - negated]);
  }

  // What the label of a record means, or null. Of several, those are left out that mean nothing.
  meaning(record, label) {
    if (this.use === "none") return null;
    const texts = this.texts(record, label);
    if (texts === null) return null;
    const found = texts.map((text) => (this.meanings.has(text) ? this.meanings.get(text) : this.guess(text)));
    if (!this.settings.several) return found[0];
    const known = [...new Set(found.filter((each) => each !== null))].sort();
    return known.length || !texts.length ? known : null;
  }
}
