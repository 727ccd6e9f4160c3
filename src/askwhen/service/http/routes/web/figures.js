// A picture with a heading, what it means, its numbers as a table, and a button that saves it.

import { el, put } from "./dom.js";
import { save } from "./charts.js";

export class Figure {
  // draw(data, width) makes the picture; rows(data) the lines of the table, each an array whose first is its name.
  constructor({ title, read, columns, draw, rows, key = () => null, wide = false, file }) {
    Object.assign(this, { title, draw, rows, key, file });
    this.place = el("div", {});
    this.legend = el("div", {});
    this.note = el("p", { class: "read" });
    this.body = el("tbody", {});
    this.details = el("details", { ontoggle: () => this.fillTable() }, el("summary", {}, "Numbers", el("span", { class: "unseen" }, ` of ${title}`)),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Numbers of ${title}` },
        el("table", {}, el("thead", {}, el("tr", {}, columns.map((name, i) => el("th", { scope: "col", class: i ? null : "text" }, name)))), this.body)));
    this.element = el("section", { class: wide ? "card wide" : "card" }, el("div", { class: "head" }, el("h2", {}, title),
      el("button", { type: "button", class: "quiet", onclick: () => this.save() }, "Save as SVG", el("span", { class: "unseen" }, `: ${title}`))), el("p", { class: "read" }, read),
      el("figure", {}, this.legend, this.place), this.note,
      this.details);
    this.data = null;
  }

  update(data, note = "") {
    this.data = data;
    put(this.note, note);
    this.redraw();
    this.fillTable();
  }

  redraw() {
    if (this.data === null) return;
    const width = Math.max(Math.round(this.place.clientWidth || 600), 260);
    const made = this.draw(this.data, width);
    put(this.place, made || el("p", { class: "read" }, "Nothing to show yet."));
    put(this.legend, this.key(this.data));
  }

  // Made only when it is opened, and only its lines are replaced, so that keyboard focus stays.
  fillTable() {
    if (this.data === null || !this.details.open) return;
    put(this.body, this.rows(this.data).map(([name, ...cells]) => el("tr", {}, el("th", { scope: "row", class: "text" }, name),
      cells.map((cell) => el("td", {}, cell)))));
  }

  save() {
    const picture = this.place.querySelector("svg");
    if (picture) save(picture, this.file);
  }
}
