// How far one has come: in this sitting, today, and in the stream.

import { count, el, plural, put } from "./dom.js";
import { call, session, streamPath } from "./api.js";
import { hasBacklog, remaining } from "./remaining.js";

const PAUSE = 15000;

export class Tally {
  constructor(stream) {
    this.stream = stream;
    this.sitting = 0;
    this.before = null; // answers of today that were not given in this sitting
    this.place = el("div", { class: "tally" });
    this.timer = null;
  }

  add(number) {
    this.sitting = Math.max(this.sitting + number, 0);
    this.show();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), PAUSE);
  }

  // What the service has counted; without it, only the sitting is known.
  async look() {
    clearTimeout(this.timer);
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    const name = session.open ? `&annotator=${encodeURIComponent(session.name)}` : "";
    const sitting = this.sitting;
    try {
      const [mine, whole] = await Promise.all([call("GET", streamPath(this.stream, `/progress?since=${midnight / 1000}${name}`)),
        call("GET", streamPath(this.stream, `/backlog?annotator=${encodeURIComponent(session.name)}`))]);
      this.before = Math.max(mine.answers - sitting, this.before ?? 0, 0);
      this.whole = whole;
      this.show();
    } catch {
      // a courtesy: the next look may succeed
    }
    this.timer = setTimeout(() => this.look(), 4 * PAUSE);
  }

  show() {
    const { whole } = this;
    const today = this.before === null ? null : this.before + this.sitting;
    const parts = [this.sitting > 0 && el("span", { class: "long" }, `${plural(this.sitting, "answer")} in this sitting`),
      today !== null && el("span", {}, `${count(today)} today`), whole && el("span", { class: "backlog" }, hasBacklog(whole) ? remaining(whole) : plural(whole.waiting, "question waits", "questions wait"))].filter(Boolean);
    put(this.place, parts,
      whole && whole.expected > 0 && el("progress", { "aria-label": "Questions of the stream that are answered", max: whole.expected, value: Math.min(whole.answered, whole.expected) }));
  }
}
