// What can be downloaded of a stream: tables in several formats, tasks for other tools, the model.

import { el } from "./dom.js";
import { linked, streamPath } from "./api.js";

const PLAIN = [["csv", "CSV"], ["json", "JSON"], ["ndjson", "NDJSON"], ["parquet", "Parquet"]];
const TABLES = [
  ["delivered", "Delivered labels", "what was shown, the label, whether people or the model gave it, certainty and time", PLAIN],
  ["instances", "Instances", "what was shown, the label and by whom, certainty, the prediction then and now", [...PLAIN, ["label-studio", "Label Studio"]]],
  ["labels", "Answers", "a row for each: annotator, time, and the label that currently counts", [...PLAIN, ["prodigy", "Prodigy"]]],
  ["decisions", "Decisions", "why each instance was asked about, or not", PLAIN],
  ["predictions", "Predictions", "as they were when instances came", PLAIN],
];
const ENDS = { prodigy: "jsonl", "label-studio": "json" };

export function exports(stream) {
  const at = linked(streamPath(stream.name, "/export"));
  const link = (table, title, [format, text]) => el("a", { class: "button small", href: `${at}?table=${table}&format=${format}`,
    download: `${stream.name}-${table}.${ENDS[format] ?? format}` }, text, el("span", { class: "unseen" }, ` of ${title.toLowerCase()}`));
  return el("details", {}, el("summary", {}, "Export", el("span", { class: "unseen" }, ` ${stream.name}`)),
    el("dl", { class: "exports" }, TABLES.map(([table, title, read, formats]) => [
      el("dt", {}, el("b", {}, title), `: ${read}`),
      el("dd", { class: "row" }, formats.map((each) => link(table, title, each)))])),
    el("p", { class: "read" }, el("a", { href: linked(streamPath(stream.name, "/model")), download: `${stream.name}.askwhen` }, "The model"),
      " is for askwhen predict, and for aw.load in Python: it takes what the stream takes, and predicts its labels."));
}
