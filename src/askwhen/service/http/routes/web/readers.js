// Files as records, read piece by piece, and records as instances of a stream.

import { call, linked } from "./api.js";

export const FORMATS = [["csv", "CSV"], ["ndjson", "NDJSON"], ["parquet", "Parquet"], ["label-studio", "Label Studio JSON"], ["prodigy", "Prodigy JSONL"]];
export const ENCODINGS = [["utf-8", "UTF-8"], ["utf-16le", "UTF-16"], ["utf-16be", "UTF-16, big-endian"], ["windows-1252", "Latin-1 (Windows-1252)"]];
export const DELIMITERS = [[",", "Comma"], [";", "Semicolon"], ["\t", "Tab"], ["|", "Bar"]];
const LOOKED_AT = 1 << 16; // bytes at the beginning of a file that say what it is
const PIECE = 1 << 13;

export function formatOf(name) {
  const end = name.toLowerCase().replace(/\.gz$/u, "").split(".").at(-1);
  return { csv: "csv", tsv: "csv", parquet: "parquet", json: "label-studio", jsonl: "ndjson", ndjson: "ndjson" }[end] ?? "csv";
}

// The file itself, or what is packed in it. Files that hold no table are refused by their first bytes.
export async function unpackedFile(file) {
  const bytes = new Uint8Array(await file.slice(0, LOOKED_AT).arrayBuffer());
  const begins = (...signs) => signs.every((sign, i) => sign === bytes[i]);
  const refuse = (what, cure) => { throw new Error(`The file ${file.name} is ${what}, and not a table: ${cure}.`); };
  if (begins(0x1f, 0x8b)) {
    try {
      const content = await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
      return await unpackedFile(new File([content], file.name.replace(/\.gz$/iu, "")));
    } catch (error) {
      throw error instanceof TypeError ? new Error(`The file ${file.name} is damaged: it cannot be unpacked.`) : error;
    }
  }
  if (begins(0x50, 0x4b)) refuse("a workbook or an archive", "save or unpack it as CSV first");
  if (begins(0x25, 0x50, 0x44, 0x46)) refuse("a PDF", "save its table as CSV first");
  const zeros = [0, 1].map((first) => bytes.filter((sign, i) => i % 2 === first && sign === 0).length);
  const isText = begins(0xff, 0xfe) || begins(0xfe, 0xff) || Math.min(...zeros) === 0; // of UTF-16 half may be zeros
  if (!isText && !begins(0x50, 0x41, 0x52, 0x31)) refuse("a file of another kind", "CSV, NDJSON, Parquet, Label Studio's JSON and Prodigy's JSONL can be read");
  return file;
}

// The format of a file by its name and its first lines: Prodigy's have marks of their own, and any name may hold JSON.
export async function detect(file) {
  const format = formatOf(file.name);
  if (format === "parquet" || format === "label-studio" || /\.[ct]sv$/iu.test(file.name)) return format;
  const lines = (await file.slice(0, LOOKED_AT).text()).split("\n").filter((line) => line.trim()).slice(0, 20);
  if (lines.some((line) => isProdigy(line))) return "prodigy";
  if (lines[0]?.startsWith("[") && format !== "ndjson") return "label-studio";
  return lines[0]?.startsWith("{") ? "ndjson" : format;
}

function isProdigy(line) {
  try {
    const found = JSON.parse(line);
    return "_task_hash" in found || "_input_hash" in found || (!("x" in found) && ["accept", "reject", "ignore"].includes(found.answer));
  } catch {
    return false; // cut off, or no object
  }
}

// How a file of text is written when nothing is known of it.
const USUAL = { encoding: "utf-8", delimiter: ",", names: true };

// How a file of text is written, by its first bytes and the rules by which the library reads files.
export async function dialect(file, stream) {
  const suffix = file.name.toLowerCase().endsWith(".tsv") ? "tsv" : "csv";
  return call("POST", `/page/dialect/${encodeURIComponent(stream)}?suffix=${suffix}`, file.slice(0, LOOKED_AT), { type: "application/octet-stream" });
}

// Every reader gives [record, number of its line or row, its label where the format has a place for one].
export async function* records(file, format, stream, how = {}, seen = () => {}) {
  if (file.size === 0) throw new Error("The file is empty.");
  const { encoding, delimiter, names } = { ...USUAL, ...how };
  if (format === "csv") yield* csv(pieces(file, seen, encoding), delimiter, names);
  else if (format === "parquet") yield* lined(unpacked(file, stream, seen));
  else if (format === "label-studio") yield* tasks(await whole(file, encoding), (share) => seen(share * file.size));
  else if (format === "prodigy") for await (const [record, number] of lined(pieces(file, seen, encoding))) yield [record, number, accepted(record)];
  else yield* lined(pieces(file, seen, encoding));
}

// In small pieces, each of which counts as seen once all that is in it was used.
async function* pieces(file, seen, encoding) {
  const reader = file.stream().getReader();
  const decoder = new TextDecoder(encoding, { fatal: true });
  const text = (bytes, more) => {
    try {
      return decoder.decode(bytes, more);
    } catch {
      throw new Error(`The file is not in ${ENCODINGS.find(([value]) => value === encoding)?.[1] ?? encoding}: choose another encoding, or save it in UTF-8.`);
    }
  };
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (let at = 0; at < value.length; at += PIECE) {
      const piece = value.subarray(at, at + PIECE);
      yield text(piece, { stream: true });
      size += piece.length;
      seen(size);
    }
  }
  const rest = text();
  if (rest) yield rest;
}

async function whole(file, encoding) {
  let found = "";
  for await (const piece of pieces(file, () => {}, encoding)) found += piece;
  try {
    return JSON.parse(found);
  } catch {
    throw new Error("The file is not JSON.");
  }
}

const kept = new WeakMap(); // rows of files that the service has unpacked

async function* unpacked(file, stream, seen) {
  if (!kept.has(file)) kept.set(file, await rowsOf(file, stream));
  const text = kept.get(file);
  for (let at = 0; at < text.length; at += PIECE) {
    yield text.slice(at, at + PIECE);
    seen((file.size * Math.min(at + PIECE, text.length)) / text.length);
  }
}

async function rowsOf(file, stream) {
  const reply = await fetch(linked(`/page/rows/${encodeURIComponent(stream)}`), { method: "POST", body: file, headers: { "Content-Type": "application/octet-stream" } });
  const said = await reply.text();
  if (!reply.ok) throw new Error(JSON.parse(said).detail);
  return said;
}

async function* lined(parts) {
  let rest = "";
  let number = 0;
  for await (const part of parts) {
    const lines = (rest + part).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      number += 1;
      if (line.trim()) yield [parsed(line, number), number];
    }
  }
  if (rest.trim()) yield [parsed(rest, number + 1), number + 1];
}

function parsed(line, number) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`Line ${number} is not JSON.`);
  }
}

function* tasks(found, seen) {
  if (!Array.isArray(found)) throw new Error("A Label Studio file is an array of tasks.");
  for (const [i, task] of found.entries()) {
    const data = task !== null && typeof task === "object" && typeof task.data === "object" ? task.data : task;
    yield [task?.id === undefined ? data : { ...data, id: task.id }, i + 1, chosen(task)];
    seen((i + 1) / found.length);
  }
}

// What the last annotation of a Label Studio task says: a list of choices, or a number.
function chosen(task) {
  const last = [...(task?.annotations ?? task?.completions ?? [])].filter((each) => !each?.was_cancelled).at(-1);
  if (!last) return null;
  const values = (last.result ?? []).map((each) => each?.value);
  return values.find((each) => typeof each?.number === "number")?.number ?? values.map((each) => each?.choices).filter(Array.isArray).flat();
}

// What a Prodigy task was answered with: a list of its options, or that its label holds, or does not; or what was typed.
function accepted(task) {
  if (task?.answer !== "accept" && task?.answer !== "reject") return null;
  const isAccepted = task.answer === "accept";
  if (Array.isArray(task.accept)) return isAccepted ? task.accept : null;
  if (typeof task.label === "string") return isAccepted ? task.label : `not ${task.label}`;
  return isAccepted ? task.user_input ?? null : null;
}

// Quotes, doubled quotes, line breaks inside quotes; the first line has the names, unless they are numbered.
export async function* csv(parts, comma = ",", named = true) {
  let names = null;
  let row = [];
  let cell = "";
  let state = "plain"; // plain, quoted, or after a quote inside quotes
  let number = 0;
  function* ended() {
    row.push(cell);
    cell = "";
    const empty = row.length === 1 && row[0] === "";
    const isFirst = !empty && names === null;
    if (isFirst) names = named ? row.map((each) => each.replace(/^\uFEFF/u, "").trim()) : row.map((_, i) => `column ${i + 1}`);
    if (!empty && !(isFirst && named)) {
      number += 1;
      if (row.length !== names.length) throw new Error(`Row ${number} has ${row.length} ${row.length === 1 ? "cell" : "cells"}, and the first line ${names.length}.`);
      yield [Object.fromEntries(names.map((name, i) => [name, row[i]])), number];
    }
    row = [];
  }
  for await (const part of parts) {
    for (const sign of part) {
      if (state === "quoted") {
        if (sign === '"') state = "after";
        else cell += sign;
      } else if (sign === '"' && (state === "after" || cell === "")) {
        if (state === "after") cell += '"';
        state = "quoted";
      } else {
        state = "plain";
        if (sign === comma) {
          row.push(cell);
          cell = "";
        } else if (sign === "\n") yield* ended();
        else if (sign !== "\r") cell += sign;
      }
    }
  }
  if (state === "quoted") throw new Error("The file ends inside quotes.");
  if (cell || row.length) yield* ended();
}

const isNumber = (value) => (typeof value === "number" ? Number.isFinite(value) : typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)));

// Lines that have an x are instances already, and rows of Parquet where it is more than a text or a number.
export const isReady = (record, format) => "x" in record && (format === "ndjson" || (format === "parquet" && typeof record.x === "object"));

const OF_PRODIGY = ["meta", "answer", "spans", "tokens", "accept", "options", "label", "config", "user_input"]; // and all with an underscore in front

// The id of a row that has none of its own: where it is, and what is in it.
export function rowKey(file, number, record) {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (const sign of JSON.stringify(record)) {
    a = Math.imul(a ^ sign.codePointAt(0), 0x01000193);
    b = Math.imul(b ^ a ^ sign.codePointAt(0), 0x85ebca6b);
  }
  return `${file.name.slice(-100)}:${number}:${(a >>> 0).toString(16)}${(b >>> 0).toString(16)}`;
}

// A record as the stream's features say, without the column of its label.
export function instanceOf(given, features, key, format, column = "") {
  const record = column && typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : given;
  if (column) delete record[column];
  if (typeof record === "string") return { x: record, id: key };
  if (Array.isArray(record)) return { x: record, id: key };
  if (record === null || typeof record !== "object") throw new Error("a record must be an object, a text or an array.");
  const id = String([record.id, format === "prodigy" ? record._task_hash : null].find((each) => (each ?? "") !== "") ?? key);
  if (isReady(record, format)) return { ...record, id };
  const { id: _, ...rest } = record;
  if (format === "prodigy") Object.keys(rest).filter((each) => each.startsWith("_") || OF_PRODIGY.includes(each)).forEach((each) => delete rest[each]);
  const fields = Object.entries(rest);
  const made = { id };
  if (features.kind === "text") {
    const found = "text" in rest ? rest.text : fields.find(([, value]) => typeof value === "string")?.[1];
    if (typeof found !== "string") throw new Error("there is no text in it.");
    made.x = found;
  } else if (features.kind === "numbers") {
    const names = features.names ?? fields.filter(([, value]) => isNumber(value)).map(([name]) => name);
    made.x = names.map((name) => (isNumber(rest[name]) ? Number(rest[name]) : rest[name] ?? null));
  } else if (features.kind === "hashed") {
    made.x = Object.fromEntries(fields.filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
      .map(([name, value]) => [name, isNumber(value) ? Number(value) : value]));
  } else if (features.kind === "columns") {
    made.x = features.schema.columns.some(({ name }) => name === "id") ? { ...rest, id: record.id } : rest;
  } else {
    made.x = Object.fromEntries([...features.text.map((name) => [name, String(rest[name] ?? "")]),
      ...(features.names ?? []).map((name) => [name, isNumber(rest[name]) ? Number(rest[name]) : rest[name] ?? null])]);
  }
  const media = ["image", "audio"].filter((name) => typeof rest[name] === "string");
  if (media.length) made.show = Object.fromEntries([...media, ...(typeof rest.text === "string" ? ["text"] : [])].map((name) => [name, rest[name]]));
  return made;
}
