// A file of instances, sent in batches. Every instance has an id, so that a file that is sent twice counts once.

import { count, el, plural, put, say } from "./dom.js";
import { choices } from "./fields.js";
import { Refused, call, isPassing, linked, may, need, streamFacts, streamHere, streamPath, who } from "./api.js";
import { page, problem, words } from "./shell.js";
import { Labels, look } from "./labels.js";
import { FORMATS, columnsOf, detect, formatOf, instanceOf, records, rowKey } from "./readers.js";

const BATCH = 200;
const SMALL_BATCH = 50; // with labels, so that the model learns on the way
const AT_ONCE = 8;
const WHEN = [["backlog", "As fast as people answer", "each instance waits, and is decided by the model of that moment"],
  ["live", "At once", "all are predicted and asked about by today's model"]];
const MOST_TRIES = 8;
const name = streamHere();
let facts, places, stopped, before, source, waits, placed;

page(async (main) => {
  need("producer");
  facts = await streamFacts();
  places = {
    file: el("input", { id: "file", type: "file", required: true, accept: ".csv,.tsv,.ndjson,.jsonl,.json,.parquet" }),
    format: el("select", { id: "format" }, FORMATS.map(([value, text]) => el("option", { value }, text))),
    progress: el("progress", { max: 1, value: 0, hidden: true, "aria-label": "How much of the file is sent" }),
    said: el("p", {}),
    wrong: el("div", {}),
    go: el("button", { class: "main" }, "Send"),
    stop: el("button", { type: "button", hidden: true, onclick: () => { stopped = true; } }, "Stop"),
    labels: new Labels(facts.settings, may("annotator"), (used) => { places.when.hidden = used; }),
  };
  places.file.addEventListener("change", () => {
    places.chosen = false;
    if (!places.go.disabled) forget();
    if (places.file.files[0]) places.format.value = formatOf(places.file.files[0].name);
    places.known = recognise();
  });
  places.format.addEventListener("change", () => {
    places.chosen = true;
    inspect();
  });
  const { budget } = facts.settings;
  const form = el("form", { class: "card" },
    el("div", { class: "field" }, el("label", { for: "file" }, "File"), places.file),
    el("div", { class: "field" }, el("label", { for: "format" }, "Format"), places.format),
    el("p", { class: "read" }, expected(facts.settings.features)),
    el("p", { class: "read" }, "A column id is the id of each instance, or else what is in its row: sending the same file again changes nothing, so that a broken import can simply be started again. Where the file has a column id, labels answer only what this import has asked."),
    places.labels.element,
    places.when = choices("when", "When they are decided", WHEN, budget?.count ? "live" : "backlog"),
    el("div", { class: "row" }, places.go, places.stop), places.progress, places.said, places.wrong);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await places.known;
    send(places.file.files[0], places.format.value);
  });
  put(main, el("div", { class: "head" }, el("h1", {}, `Import into ${name}`)), form);
});

// Clear messages about the previous file.
function forget() {
  put(places.wrong);
  put(places.said);
  places.progress.hidden = true;
}

// The format by what is in the file, unless the user has chosen one meanwhile.
async function recognise() {
  const file = places.file.files[0];
  const format = file && (await detect(file).catch(() => null));
  if (format && file === places.file.files[0] && !places.chosen) places.format.value = format;
  await inspect();
}

// Look for labels at the beginning of the file; errors in it are shown when it is sent.
async function inspect() {
  const file = places.file.files[0];
  const format = places.format.value;
  places.labels.hide();
  if (!file) return;
  const found = await look(file, format, name).catch(() => null);
  if (found?.records && file === places.file.files[0] && format === places.format.value) places.labels.show(found);
}

function expected({ kind, names, text, schema }) {
  const rest = " Lines of NDJSON that have an x are taken as they are.";
  if (kind === "text") return `The stream takes texts: the column text, or else the first text in a record.${rest}`;
  if (kind === "numbers") return `The stream takes numbers: ${names ? `the columns ${names.join(", ")}` : "all columns of numbers, in their order"}.${rest}`;
  if (kind === "hashed") return `The stream takes features by name: all columns but id.${rest}`;
  if (kind === "columns") return `The stream takes named columns: ${schema.columns.filter(({ type }) => type !== "other").map((each) => each.name).join(", ")}.${rest}`;
  return `The stream takes the texts ${text.join(", ")} and the numbers ${(names ?? []).join(", ")}.${rest}`;
}

async function send(file, format) {
  stopped = false;
  forget();
  places.progress.value = 0;
  places.progress.hidden = false;
  source = sourceOf(file);
  const sum = { sent: 0, waiting: 0, asked: 0, again: 0, refused: 0, answered: 0 };
  const { labels } = places;
  const most = labels.use.checked ? SMALL_BATCH : BATCH;
  waits = !labels.use.checked && places.when.querySelector("input:checked").value === "backlog";
  places.go.disabled = true;
  places.stop.hidden = false;
  let read = 0;
  try {
    before = (await call("GET", streamPath(name))).rounds;
    placed = (await call("GET", streamPath(name, "/backlog"))).placed;
    const columns = await columnsOf(file, format, name, facts.settings.features, labels.column.value);
    let batch = [];
    for await (const [record, number, label] of records(file, format, name, (size) => { read = size; })) {
      if (stopped) break;
      const key = rowKey(file, number, record);
      let instance;
      try {
        instance = instanceOf(record, { ...facts.settings.features, names: columns }, key, format, labels.column.value);
      } catch (error) {
        refuse(sum, number, error.message);
        continue;
      }
      batch.push({ number, instance, label: labels.meaning(record, label), isOurs: instance.id === key });
      if (batch.length === most) {
        await deliver(batch, sum);
        batch = [];
        show(sum, read / file.size);
      }
    }
    if (batch.length && !stopped) await deliver(batch, sum);
    if (!stopped && !sum.sent && !sum.refused) throw new Error("There are no instances in the file.");
    show(sum, stopped ? read / file.size : 1);
    say(`${stopped ? "Stopped" : "Done"}. ${places.said.textContent}`);
    if (!stopped) put(places.said, sum.sent ? "Done. " : "Nothing was taken. ", `${places.said.textContent} `, sum.sent > 0 && el("a", { href: linked(`/label/${encodeURIComponent(name)}`) }, "Label them"));
  } catch (error) {
    put(places.wrong, problem(`${words(error)} ${sum.sent ? "What was sent before is kept." : "Nothing was sent."}`));
  } finally {
    places.go.disabled = false;
    places.stop.hidden = true;
  }
}

function show(sum, share) {
  places.progress.value = Math.min(share, 1);
  put(places.said, `${plural(sum.sent - sum.again, "instance")} sent${waits ? "" : `, ${plural(sum.asked, "question")} opened`}`
    + `${sum.waiting ? `, ${count(sum.waiting)} waiting to be decided as fast as people answer` : ""}`
    + `${sum.answered ? `, ${count(sum.answered)} answered from the file` : ""}`
    + `${sum.again ? `, ${plural(sum.again, "id was", "ids were")} there before and left alone` : ""}${sum.refused ? `, ${count(sum.refused)} refused` : ""}.`);
}

function refuse(sum, number, why) {
  sum.refused += 1;
  if (sum.refused <= 5) places.wrong.append(problem(`Row ${number}: ${why}`));
}

// One batch, again where that may help: ids make it count once. What came with the first try of this import is new, too.
async function deliver(batch, sum) {
  const body = batch.map(({ instance }) => `${JSON.stringify({ source, ...instance })}\n`).join("");
  const said = await surely(() => call("POST", streamPath(name, `/instances?backlog=${waits}`), body, { type: "application/x-ndjson", timeout: 120000 }));
  const lines = typeof said === "string" ? said.trim().split("\n").map((line) => JSON.parse(line)) : [said];
  lines.forEach((line, i) => {
    if (line.end) throw new Error(line.error.detail);
    if (line.error) refuse(sum, batch[i]?.number, line.error.detail);
    else {
      sum.sent += 1;
      sum.asked += Boolean(line.asked) && isNew(line);
      sum.waiting += Boolean(line.provisional) && isNew(line);
      sum.again += !isNew(line);
    }
  });
  // What was there before may be another instance of the same id, unless the id says what is in the row.
  const asked = lines.flatMap((line, i) => (line.asked && batch[i]?.label && (isNew(line) || batch[i].isOurs) ? [[line.question, batch[i]]] : []));
  while (asked.length) await Promise.all(asked.splice(0, AT_ONCE).map(([question, row]) => answer(question, row, sum)));
}

const isNew = (line) => !line.again || (line.provisional ? line.place > placed : line.round >= before);

// What this import is called: its instances can be withdrawn together.
const sourceOf = (file) => `${file.name.slice(-150)}, ${new Date().toISOString().slice(0, 19).replace("T", " ")}`;

// A question answered with the label of the file, once; where the question is closed, it is not needed.
async function answer(question, { label, instance }, sum) {
  const key = `file ${encodeURIComponent(instance.id)}`.slice(-200);
  try {
    const receipt = await surely(() => call("POST", streamPath(name, `/questions/${question}/answer`), who({ label, key })));
    sum.answered += !receipt.again;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 409) throw error;
  }
}

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
