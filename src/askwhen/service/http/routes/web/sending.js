// Sends the rows of a file in batches. Every instance has an id, so that a file that is sent twice counts once.

import { Refused, call, isPassing, streamPath, who } from "./api.js";
import { isRight } from "./label_field.js";
import { instanceOf, records, rowKey } from "./readers.js";

const BATCH = 200;
const SMALL_BATCH = 50; // with labels that are learnt, so that the model learns on the way
const AT_ONCE = 8;
const MOST_TRIES = 8;

export class Sending {
  // given: { stream, features, file, format, how, columns, labels, waits, source }; told: { moved(share), refused(number, why) }
  constructor(given, told) {
    Object.assign(this, given, { told });
    this.use = this.labels.use;
    this.sum = { sent: 0, waiting: 0, asked: 0, again: 0, refused: 0, answered: 0, taught: 0, measured: 0, right: 0, unlabelled: 0 };
    this.stopped = false;
  }

  get learns() {
    return this.use === "answers" || this.use === "teach";
  }

  async run() {
    const { file, format, stream, how, sum } = this;
    const most = this.learns ? SMALL_BATCH : BATCH;
    let read = 0;
    let batch = [];
    this.before = (await call("GET", streamPath(stream))).rounds;
    this.placed = (await call("GET", streamPath(stream, "/backlog"))).placed;
    for await (const [record, number, label] of records(file, format, stream, how, (size) => { read = size; })) {
      if (this.stopped) break;
      const row = this.row(record, number, label);
      if (!row) continue;
      batch.push(row);
      if (batch.length === most) {
        await this.deliver(batch);
        batch = [];
        this.told.moved(read / file.size);
      }
    }
    if (batch.length && !this.stopped) await this.deliver(batch);
    if (!this.stopped && !sum.sent && !sum.refused && !sum.unlabelled) throw new Error("There are no instances in the file.");
    this.told.moved(this.stopped ? read / file.size : 1);
  }

  // What is sent of a record, and what its label means; null where it cannot be sent.
  row(record, number, label) {
    const { columns, features, labels, format } = this;
    const key = rowKey(this.file, number, record);
    const names = features.kind === "numbers" ? features.names ?? (columns.columns.length ? columns.numbers : null) : features.names;
    try {
      const instance = instanceOf(columns.arranged(record), { ...features, names }, key, format, columns.label);
      const advice = columns.advice(record, (text) => labels.guess(text));
      return { number, instance: { source: this.source, ...instance, ...(advice && { advice }) }, label: labels.meaning(record, label), isOurs: instance.id === key };
    } catch (error) {
      this.refuse(number, error.message);
      return null;
    }
  }

  refuse(number, why) {
    this.sum.refused += 1;
    this.told.refused(number, why);
  }

  // One batch, again where that may help: ids make it count once. What came with the first try of this import is new, too.
  async deliver(batch) {
    const { sum, labels } = this;
    if (this.use === "gold") {
      await this.gild(batch);
      return;
    }
    const body = batch.map(({ instance }) => `${JSON.stringify(instance)}\n`).join("");
    const path = streamPath(this.stream, `/instances?backlog=${this.waits}`);
    const said = await surely(() => call("POST", path, body, { type: "application/x-ndjson", timeout: 120000 }));
    const lines = typeof said === "string" ? said.trim().split("\n").map((line) => JSON.parse(line)) : [said];
    const labelled = [];
    lines.forEach((line, i) => {
      if (line.end) throw new Error(line.error.detail);
      if (line.error) {
        this.refuse(batch[i]?.number, line.error.detail);
        return;
      }
      const isNew = this.isNew(line);
      sum.sent += 1;
      sum.asked += Boolean(line.asked) && isNew;
      sum.waiting += Boolean(line.provisional) && isNew;
      sum.again += !isNew;
      const label = batch[i]?.label;
      if (label !== null && label !== undefined && this.use === "truth" && !line.provisional && line.prediction !== null) {
        sum.measured += 1;
        sum.right += isRight(labels.settings, line.prediction, label);
      }
      // What was there before may be another instance of the same id, unless the id says what is in the row.
      if (label !== null && label !== undefined && this.learns && !line.provisional && (isNew || batch[i].isOurs)) labelled.push([line, batch[i]]);
    });
    while (labelled.length) await Promise.all(labelled.splice(0, AT_ONCE).map(([line, row]) => (line.asked ? this.answer(line, row) : this.teach(line, row))));
  }

  // Questions whose label is known; the same ones again change nothing.
  async gild(batch) {
    const known = batch.filter(({ label }) => label !== null && label !== undefined);
    this.sum.unlabelled += batch.length - known.length;
    const questions = known.map(({ instance: { x, show, subject, advice }, label }) => ({ x, show, subject, advice, label }));
    if (!questions.length) return;
    const said = await surely(() => call("POST", streamPath(this.stream, "/gold"), { questions }, { timeout: 120000 }));
    this.sum.sent += questions.length;
    this.sum.again += said.known;
  }

  isNew(line) {
    return !line.again || (line.provisional ? line.place > this.placed : line.round >= this.before);
  }

  // A question answered with the label of the file, once; where the question is closed, it is not needed.
  async answer(line, { label, instance }) {
    const path = streamPath(this.stream, `/questions/${line.question}/answer`);
    await this.once("answered", path, { label, key: keyOf(instance) });
  }

  // The label of an instance that the stream has not asked about.
  async teach(line, { label, instance }) {
    if (this.use !== "teach") return;
    await this.once("taught", streamPath(this.stream, "/labels"), { label, round: line.round, key: keyOf(instance) });
  }

  async once(what, path, body) {
    try {
      const receipt = await surely(() => call("POST", path, who(body)));
      this.sum[what] += !receipt.again; // several are on their way at once: nothing may be awaited here
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 409) throw error;
    }
  }
}

const keyOf = (instance) => `file ${encodeURIComponent(instance.id)}`.slice(-200);

async function surely(act) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isPassing(error) || tries === MOST_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(250 * 2 ** tries, 8000)));
    }
  }
}
