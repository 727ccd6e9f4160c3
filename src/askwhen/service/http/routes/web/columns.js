// The first rows of a file, and what each of its columns is used for, which can be changed before anything is sent.

import { el, put } from "./dom.js";
import { call, streamPath } from "./api.js";
import { isReady, records } from "./readers.js";
import { problem } from "./shell.js";

const LOOKED_AT = 200;
const SHOWN = 5;
const LONGEST = 90;
const LABELS = ["label", "y", "class", "target"]; // of lines that are instances already
const OTHERS = [["id", "Id"], ["label", "Label"], ["image", "Image to show"], ["audio", "Sound to play"], ["ignored", "Ignored"]];
const HOLDS = { number: "numbers", truth: "yes and no", category: "a category", text: "texts", date: "dates", vector: "a vector", dropped: "nothing to learn from", label: "labels", time: "times" };

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const short = (value) => {
  const text = value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
};

const isAdvice = (use) => use.startsWith("advice:") || use.startsWith("confidence:");
const adviserOf = (use) => use.slice(use.indexOf(":") + 1);

export class FileColumns {
  // changed() is called when a column is used for something else.
  // advisers are those of the stream: names, "any", or null.
  constructor(stream, { features, advisers }, changed) {
    Object.assign(this, { stream, features, advisers, changed });
    this.element = el("div", { hidden: true });
    this.wrong = el("div", {});
    this.reset();
  }

  reset() {
    this.columns = [];
    this.ready = "";
    this.uses = new Map();
    this.choices = new Map();
    this.missing = [];
    this.element.hidden = true;
  }

  // Look at the beginning of a file. Lines that are instances already, and tasks of Prodigy, have no columns to choose.
  async look(file, format, how) {
    this.reset();
    const rows = [];
    for await (const [record] of records(file, format, this.stream, how)) {
      if (!isObject(record)) continue;
      if (format === "prodigy") return;
      if (isReady(record, format)) {
        this.ready = LABELS.find((name) => name in record) ?? "";
        return;
      }
      rows.push(record);
      if (rows.length === LOOKED_AT) break;
    }
    if (!rows.length) return;
    const found = await call("POST", streamPath(this.stream, "/columns"), { records: rows });
    this.columns = found.columns;
    this.missing = found.missing;
    this.uses = new Map(found.columns.map(({ name, use, adviser }) => [name, adviser === null ? use : `${use}:${adviser}`]));
    this.show(rows.slice(0, SHOWN));
  }

  show(rows) {
    const head = this.columns.map(({ name, holds, use, why }, i) => {
      const choice = el("select", { "aria-label": `What ${name} is used for`, onchange: () => this.choose(name, choice.value) });
      this.choices.set(name, choice);
      this.offer(name, this.uses.get(name));
      return el("th", { scope: "col", class: "text" }, el("bdi", {}, name), choice,
        el("span", { class: "read", title: why, id: `holds-${i}` }, `holds ${use === "id" ? "identifiers" : HOLDS[holds] ?? holds}`));
    });
    put(this.element, el("fieldset", {}, el("legend", {}, "The first rows, and what each column is used for"),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The first rows of the file" },
        el("table", { class: "plain preview" }, el("thead", {}, el("tr", {}, head)),
          el("tbody", {}, rows.map((row) => el("tr", {}, this.columns.map(({ name }) => el("td", { class: "text", dir: "auto" }, short(row[name])))))))),
      this.wrong));
    this.element.hidden = false;
    this.check();
  }

  // Everything that a column may be used for.
  offer(name, use) {
    const text = this.features.kind === "text" ? "Text" : "Feature";
    const choice = this.choices.get(name);
    put(choice, [["feature", text], ...OTHERS, ...this.advising(name)].map(([value, title]) => el("option", { value }, title)));
    choice.value = use;
  }

  // What a column may have of advisers: the labels of one, or what it states of them. Any column may be that of a new one.
  advising(name) {
    if (this.advisers === null) return [];
    const said = [...this.uses.values()].filter(isAdvice).map(adviserOf);
    const names = new Set(this.advisers === "any" ? [...said, name] : this.advisers);
    return [...names].flatMap((each) => [[`advice:${each}`, `What ${each} says`], ...(each === name ? [] : [[`confidence:${each}`, `Confidence of ${each}`]])]);
  }

  // One column has the texts, the ids and the labels, and one those of an adviser; what had them before is ignored.
  choose(name, use) {
    const single = use === "id" || use === "label" || isAdvice(use) || (use === "feature" && this.features.kind === "text");
    if (single) {
      for (const [other, before] of this.uses) if (before === use && other !== name) this.set(other, "ignored");
    }
    this.set(name, use);
    this.check();
    this.changed();
  }

  set(name, use) {
    this.uses.set(name, use);
    if (this.advisers !== "any") this.choices.get(name).value = use;
    else for (const [other, now] of this.uses) this.offer(other, now); // there may be another adviser
  }

  check() {
    const wrong = this.problem();
    put(this.wrong, wrong && problem(wrong));
  }

  // Why the file cannot be sent like this, in a sentence, or null.
  problem() {
    if (!this.columns.length) return null;
    const uses = [...this.uses.values()];
    const alone = uses.find((use) => use.startsWith("confidence:") && !uses.includes(use.replace("confidence:", "advice:")));
    if (alone) return `Choose the column with what ${adviserOf(alone)} says, too.`;
    if (this.missing.length) return `The file has no column ${this.missing.join(", and none ")}, which the stream needs.`;
    const used = this.columns.filter(({ name }) => this.uses.get(name) === "feature");
    const isText = this.features.kind === "text";
    if (!used.length) return isText ? "Choose the column that has the texts." : "Choose at least one column that is a feature.";
    const labels = isText && used.find((each) => each.labels_only);
    if (labels) return `The column ${labels.name} holds nothing but labels (${labels.values.join(", ")}), so it is not the text: choose another one.`;
    return null;
  }

  // The column with the labels, if one has them.
  get label() {
    return [...this.uses].find(([, use]) => use === "label")?.[0] ?? this.ready;
  }

  // The columns that instances are made of.
  get numbers() {
    return this.columns.filter(({ name }) => this.uses.get(name) === "feature").map(({ name }) => name);
  }

  // What the advisers of a record say, by name; meaning(text) is the label that a text stands for, if one is known.
  advice(record, meaning) {
    const found = {};
    for (const [name, use] of this.uses) {
      const value = isObject(record) ? record[name] : null;
      if (!isAdvice(use) || value === null || value === undefined || String(value).trim() === "") continue;
      const adviser = adviserOf(use);
      found[adviser] ??= {};
      if (use.startsWith("advice:")) found[adviser].label = meaning(String(value)) ?? String(value);
      else found[adviser].confidence = Number.isFinite(Number(value)) ? Number(value) : value;
    }
    const said = Object.entries(found).filter(([, each]) => each.label !== undefined);
    return said.length ? Object.fromEntries(said) : null;
  }

  // A record with the names that the rules for instances know; its label stays under its own name.
  arranged(record) {
    if (!this.columns.length || !isObject(record)) return record;
    const found = {};
    for (const [name, value] of Object.entries(record)) {
      const use = this.uses.get(name) ?? "feature";
      if (use === "ignored" || isAdvice(use)) continue;
      if (use === "feature") found[this.features.kind === "text" ? "text" : name] = value;
      else found[use === "label" ? name : use] = value;
    }
    return found;
  }
}
