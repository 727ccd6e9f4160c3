// A file of instances: what it holds is shown first, and can be changed; then it is sent.

import { count, el, percent, plural, put, say } from "./dom.js";
import { call, linked, may, need, streamFacts, streamHere, streamPath } from "./api.js";
import { page, problem, words } from "./shell.js";
import { FileColumns } from "./columns.js";
import { choices, select } from "./fields.js";
import { Labels, look } from "./labels.js";
import { DELIMITERS, ENCODINGS, FORMATS, detect, dialect, formatOf, unpackedFile } from "./readers.js";
import { Sending } from "./sending.js";
import { withdrawals } from "./withdrawals.js";

const WHEN = [["backlog", "As fast as people answer", "each instance waits, and is decided by the model of that moment"],
  ["live", "At once", "all are predicted and asked about by today's model"]];
const name = streamHere();
let facts, places, sending;

page(async (main) => {
  need("producer");
  facts = await streamFacts();
  const { features, budget } = facts.settings;
  places = {
    file: el("input", { id: "file", type: "file", required: true, accept: ".csv,.tsv,.txt,.ndjson,.jsonl,.json,.parquet,.gz" }),
    format: el("select", { id: "format" }, FORMATS.map(([value, text]) => el("option", { value }, text))),
    columns: new FileColumns(name, facts.settings, () => showLabels()),
    labels: new Labels(facts.settings, may("annotator"), may("reviewer"), (use) => { places.when.hidden = ["answers", "teach", "gold"].includes(use); }),
    when: choices("when", "When they are decided", WHEN, budget?.count ? "live" : "backlog"),
    progress: el("progress", { max: 1, value: 0, hidden: true, "aria-label": "How much of the file is sent" }),
    said: el("p", {}),
    wrong: el("div", {}),
    go: el("button", { class: "main" }, "Send"),
    stop: el("button", { type: "button", hidden: true, onclick: () => { sending.stopped = true; } }, "Stop"),
    taken: withdrawals(name),
  };
  places.written = el("details", { hidden: true }, el("summary", {}, "How the file is written"),
    el("div", { class: "row fields" }, select("encoding", "Encoding", ENCODINGS), select("delimiter", "Between values", DELIMITERS)),
    el("label", { class: "choice" }, el("input", { type: "checkbox", id: "names" }), el("span", {}, el("b", {}, "The first line has the names"), " of the columns")));
  const form = el("form", { class: "card" },
    el("div", { class: "field" }, el("label", { for: "file" }, "File"), places.file),
    el("div", { class: "field" }, el("label", { for: "format" }, "Format"), places.format),
    el("p", { class: "read" }, expected(features)),
    places.written, places.columns.element, places.labels.element, places.when,
    el("p", { class: "read" }, "The id of an instance is what its column for ids holds, or else what is in its row: sending the same file again changes nothing, so that a broken import can simply be started again."),
    el("div", { class: "row" }, places.go, places.stop), places.progress, places.said, places.wrong);
  places.file.addEventListener("change", () => {
    places.chosen = false;
    if (!places.go.disabled) forget();
    places.opened = null;
    if (places.file.files[0]) places.format.value = formatOf(places.file.files[0].name);
    places.known = recognise();
  });
  places.format.addEventListener("change", () => {
    places.chosen = true;
    places.known = inspect(true);
  });
  places.written.addEventListener("change", () => { places.known = inspect(false); });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await places.known;
    if (places.opened) send(places.opened, places.format.value);
  });
  put(main, el("div", { class: "head" }, el("h1", {}, `Import into ${name}`)), form, places.taken.element);
  places.taken.show();
});

const field = (id) => document.getElementById(id);
const how = () => ({ encoding: field("encoding").value, delimiter: field("delimiter").value, names: field("names").checked });

// Clear messages about the previous file.
function forget() {
  put(places.wrong);
  put(places.said);
  places.progress.hidden = true;
}

// What is in the file, and its format, unless the user has chosen one meanwhile.
async function recognise() {
  const file = places.file.files[0];
  const isSame = () => file === places.file.files[0];
  try {
    const opened = file && (await unpackedFile(file));
    const format = opened && (await detect(opened));
    if (!isSame()) return;
    places.opened = opened ?? null;
    if (format && !places.chosen) places.format.value = format;
  } catch (error) {
    if (isSame()) put(places.wrong, problem(`${words(error)} Nothing was sent.`));
  }
  await inspect(true);
}

// Look at the beginning of the file, and say what is wrong with it before it is sent.
async function inspect(isNew) {
  const file = places.opened;
  const format = places.format.value;
  const isSame = () => file === places.opened && format === places.format.value;
  places.columns.reset();
  places.labels.hide();
  places.written.hidden = format === "parquet" || !file;
  if (!file) return;
  if (!places.go.disabled) forget();
  try {
    if (isNew) await writtenAs(file, format);
    await places.columns.look(file, format, how());
    if (isSame()) await showLabels();
  } catch (error) {
    if (isSame() && places.go.disabled === false) put(places.wrong, problem(`${words(error)} Nothing was sent.`));
  }
}

async function writtenAs(file, format) {
  const found = await dialect(file, name).catch(() => ({ encoding: "utf-8", delimiter: ",", names: true }));
  field("encoding").value = found.encoding;
  field("delimiter").value = found.delimiter;
  field("names").checked = found.names;
  for (const each of [field("delimiter").parentElement, field("names").parentElement]) each.hidden = format !== "csv";
  places.written.open = found.encoding !== "utf-8" || !found.names;
}

async function showLabels() {
  places.labels.show(await look(places.opened, places.format.value, name, how()), places.columns.label);
}

function expected({ kind, names, text, schema }) {
  const rest = " Lines of NDJSON that have an x are taken as they are.";
  if (kind === "text") return `The stream takes texts.${rest}`;
  if (kind === "numbers") return `The stream takes numbers: ${names ? `the columns ${names.join(", ")}` : "columns of numbers, in their order"}.${rest}`;
  if (kind === "hashed") return `The stream takes features by name.${rest}`;
  if (kind === "columns") return `The stream takes named columns: ${schema.columns.filter(({ type }) => type !== "other").map((each) => each.name).join(", ")}.${rest}`;
  return `The stream takes the texts ${text.join(", ")} and the numbers ${(names ?? []).join(", ")}.${rest}`;
}

// What this import is called: its instances can be withdrawn together.
const sourceOf = (file) => `${file.name.slice(-150)}, ${new Date().toISOString().slice(0, 19).replace("T", " ")}`;

async function send(file, format) {
  forget();
  if (places.columns.problem()) {
    places.columns.check(); // says it again, where the columns are chosen
    places.columns.wrong.scrollIntoView({ block: "center" });
    return;
  }
  places.progress.value = 0;
  places.progress.hidden = false;
  const { labels, columns } = places;
  const learns = labels.use === "answers" || labels.use === "teach";
  const waits = !learns && places.when.querySelector("input:checked").value === "backlog";
  sending = new Sending({ stream: name, features: facts.settings.features, file, format, how: how(), columns, labels, waits, source: sourceOf(file) },
    { moved: (share) => show(sending, share), refused: (number, why) => sending.sum.refused <= 5 && places.wrong.append(problem(`Row ${number}: ${why}`)) });
  places.go.disabled = true;
  places.stop.hidden = false;
  try {
    await sending.run();
    say(`${sending.stopped ? "Stopped" : "Done"}. ${places.said.textContent}`);
    if (!sending.stopped) put(places.said, sending.sum.sent ? "Done. " : "Nothing was taken. ", `${places.said.textContent} `, sending.sum.sent > 0 && sending.use !== "gold" && el("a", { href: linked(`/label/${encodeURIComponent(name)}`) }, "Label them"));
  } catch (error) {
    put(places.wrong, problem(`${words(error)} ${sending.sum.sent ? "What was sent before is kept." : "Nothing was sent."}`));
  } finally {
    places.go.disabled = false;
    places.stop.hidden = true;
    places.taken.show();
  }
}

function show({ sum, waits, use }, share) {
  places.progress.value = Math.min(share, 1);
  if (use === "gold") {
    put(places.said, [`${plural(sum.sent - sum.again, "gold question")} added`, sum.again && `${count(sum.again)} there before`, sum.refused && `${count(sum.refused)} refused`,
      sum.unlabelled && `${count(sum.unlabelled)} without a label left out`].filter(Boolean).join(", "), ".");
    return;
  }
  const parts = [`${plural(sum.sent - sum.again, "instance")} sent`];
  if (!waits) parts.push(`${plural(sum.asked, "question")} opened`);
  if (sum.waiting) parts.push(`${count(sum.waiting)} waiting to be decided as fast as people answer`);
  if (sum.answered) parts.push(`${count(sum.answered)} answered from the file`);
  if (sum.taught) parts.push(`${plural(sum.taught, "other label")} learnt`);
  if (sum.again) parts.push(`${plural(sum.again, "id was", "ids were")} there before and left alone`);
  if (sum.refused) parts.push(`${count(sum.refused)} refused`);
  const measured = use !== "truth" ? "" : sum.measured ? ` Of ${plural(sum.measured, "decided instance")} with a label in the file, ${percent(sum.right / sum.measured)} were predicted right.`
    : " No instance with a label in the file is decided yet: measure again later, with the same file.";
  put(places.said, `${parts.join(", ")}.${measured}`);
}
