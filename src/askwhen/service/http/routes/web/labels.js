// The labels of a file, and what each of them means in the stream.

import { el, plural, put } from "./dom.js";
import { records } from "./readers.js";

const LOOKED_AT = 1000;
const MOST_SHOWN = 30;
const USUAL = ["label", "labels", "class", "category", "target", "y"];
const OWN = ["label-studio", "prodigy"]; // formats with a place of their own for labels

// What the beginning of a file says: its columns, and how often each has which label.
export async function look(file, format, stream) {
  const found = { columns: [], labels: [], records: 0 };
  for await (const [record, , label] of records(file, format, stream)) {
    if (!found.records && !OWN.includes(format) && isObject(record)) found.columns = Object.keys(record);
    found.labels.push([record, label]);
    found.records += 1;
    if (found.records === LOOKED_AT) break;
  }
  return found;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// The label of a record: from its column, or from where its format has it.
export function labelIn(record, label, column) {
  const found = column && isObject(record) ? record[column] : label;
  return found === undefined || found === null || found === "" ? null : String(found);
}

export class Labels {
  constructor(settings, mayAnswer, changed) {
    this.open = settings.labels === "open";
    this.known = this.open ? [] : settings.labels;
    this.mayAnswer = mayAnswer;
    this.meanings = new Map();
    this.column = el("select", { id: "column", onchange: () => this.list() });
    this.use = el("input", { type: "checkbox", id: "use", onchange: () => this.toggle() });
    this.changed = changed;
    this.means = el("div", {});
    this.element = el("div", { hidden: true });
    this.found = null;
  }

  // Show what a file has.
  show(found) {
    this.found = found;
    const { columns } = found;
    put(this.column, el("option", { value: "" }, "none"), columns.map((name) => el("option", { value: name }, name)));
    this.column.value = columns.find((name) => USUAL.includes(name.toLowerCase())) ?? "";
    this.use.checked = false;
    put(this.element, el("fieldset", {}, el("legend", {}, "Labels in the file"),
      columns.length > 0 && el("div", { class: "field" }, el("label", { for: "column" }, "Column with the label"), this.column),
      this.mayAnswer && el("label", { class: "choice" }, this.use, el("span", {}, el("b", {}, "Answer with them"),
        ": a question that the stream asks about one of these instances is answered, in your name, with its label in the file. Instances are then decided at once")),
      this.means,
      el("p", { class: "read" }, this.mayAnswer ? "An import uses labels only as answers. Those of instances that the stream does not ask about can be given by the API, with POST labels, or by learn in Python."
        : "They are not used: your token may not answer questions.")));
    this.element.hidden = false;
    this.list();
  }

  toggle() {
    this.means.hidden = !this.use.checked;
    this.changed(this.use.checked);
  }

  hide() {
    this.found = null;
    this.element.hidden = true;
  }

  // Each label, and a choice of what it means.
  list() {
    const counts = new Map();
    for (const [record, label] of this.found.labels) {
      const text = labelIn(record, label, this.column.value);
      if (text !== null) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    this.meanings = new Map([...counts.keys()].map((text) => [text, this.guess(text)]));
    this.use.disabled = !counts.size;
    if (!counts.size) this.use.checked = false;
    this.toggle();
    if (!counts.size && !this.found.columns.length) this.element.hidden = true;
    const shown = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_SHOWN);
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

  guess(text) {
    if (this.open) return text;
    const same = (other) => other.toLowerCase() === text.toLowerCase();
    const negated = this.known.length === 2 ? this.known.findIndex((label) => same(`not ${label}`)) : -1;
    return this.known.find((label) => label === text) ?? this.known.find(same) ?? (negated < 0 ? null : this.known[1 - negated]);
  }

  // What the label of a record means, or null.
  meaning(record, label) {
    if (!this.use.checked) return null;
    const text = labelIn(record, label, this.column.value);
    if (text === null) return null;
    return this.meanings.has(text) ? this.meanings.get(text) : this.guess(text);
  }
}
