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
    this.fresh = 0; // answers since the last look at the stream
    this.timer = this.soon = null;
  }

  add(number) {
    this.sitting = Math.max(this.sitting + number, 0);
    this.fresh += number;
    this.show();
    this.soon ??= setTimeout(() => this.look(), PAUSE);
  }

  // What the service has counted; without it, only the sitting is known.
  async look() {
    clearTimeout(this.timer);
    clearTimeout(this.soon);
    this.soon = null;
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    const name = session.open ? `&annotator=${encodeURIComponent(session.name)}` : "";
    const { sitting, fresh } = this;
    try {
      const [mine, whole] = await Promise.all([call("GET", streamPath(this.stream, `/progress?since=${midnight / 1000}${name}`)),
        call("GET", streamPath(this.stream, `/backlog?annotator=${encodeURIComponent(session.name)}`))]);
      this.before = Math.max(mine.answers - sitting, this.before ?? 0, 0);
      this.whole = whole;
      this.fresh -= fresh;
      this.show();
    } catch {
      // a courtesy: the next look may succeed
    }
    this.timer = setTimeout(() => this.look(), 4 * PAUSE);
  }

  // The stream as it was seen last, with what was answered here since.
  get now() {
    const { whole, fresh } = this;
    if (!whole || !fresh) return whole;
    const [left, waiting] = [whole.left, whole.waiting].map((each) => (each === null ? null : Math.max(each - fresh, 0)));
    const remaining_ = whole.remaining === null || !whole.left ? whole.remaining : (whole.remaining * left) / whole.left;
    return { ...whole, answered: Math.max(whole.answered + fresh, 0), left, waiting, remaining: remaining_ };
  }

  show() {
    const whole = this.now;
    const today = this.before === null ? null : this.before + this.sitting;
    const parts = [this.sitting > 0 && el("span", { class: "long" }, `${plural(this.sitting, "answer")} in this sitting`),
      today !== null && el("span", {}, `${count(today)} today`), whole && el("span", { class: "backlog" }, hasBacklog(whole) ? remaining(whole) : plural(whole.waiting, "question waits", "questions wait"))].filter(Boolean);
    put(this.place, parts,
      whole && whole.expected > 0 && el("progress", { "aria-label": "Questions of the stream that are answered", max: whole.expected, value: Math.min(whole.answered, whole.expected) }));
  }
}
