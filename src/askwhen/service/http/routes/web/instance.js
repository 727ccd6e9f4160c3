// An instance as a person sees it. Whatever it holds, it is shown as text; addresses are followed only where the
// stream allows them.

import { el, put } from "./dom.js";
import { matches } from "./highlight.js";

const PARTS = ["text", "code", "table", "image", "audio", "json", "caption"];
const MOST_MARKS = 2000;
const MOST_ROWS = 300;
const LONGEST_MARKED = 200000;

const seen = (question) => (question.erased ? "Its contents were erased." : question.show ?? question.x);

export function summary(question) {
  const value = seen(question);
  const text = typeof value === "string" ? value : typeof value?.text === "string" ? value.text : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)} and more` : text;
}

export function instance(question, view) {
  const value = seen(question);
  return el("div", { class: "instance" }, parts(value, view));
}

function parts(value, view) {
  if (view.kind !== "auto") return [part(view.kind, value, view)];
  if (typeof value === "string") return [part("text", value, view)];
  if (isObject(value)) {
    const names = Object.keys(value);
    if (names.length && names.every((name) => PARTS.includes(name))) {
      return names.filter((name) => name !== "caption").map((name) => part(name, value[name], view, value.caption));
    }
    if (names.every((name) => !isDeep(value[name]))) return [part("table", value, view)];
  }
  if (Array.isArray(value) && value.every((each) => !isDeep(each))) return [part("table", value, view)];
  return [part("json", value, view)];
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isDeep = (value) => typeof value === "object" && value !== null;

function part(kind, value, view, caption) {
  if (kind === "text") return scrolling("div", "text", "Text", marked(plain(value), view.highlight), view.direction);
  if (kind === "code") return scrolling("pre", "code", "Code", marked(plain(value), view.highlight), "ltr");
  if (kind === "table") return table(value, view);
  if (kind === "image") return image(address(value, "image"), view, value?.caption ?? caption);
  if (kind === "audio") return audio(address(value, "audio"), view, value?.caption ?? caption);
  return scrolling("pre", "code", "Data", [JSON.stringify(value, null, 2) ?? ""], "ltr");
}

function plain(value) {
  if (typeof value === "string") return value;
  if (isObject(value) && typeof value.text === "string") return value.text;
  return JSON.stringify(value, null, 2) ?? "";
}

// Scrolls where it is long; then the keyboard must be able to reach it.
function scrolling(tag, kind, name, children, direction) {
  return el(tag, { class: `part ${kind}`, dir: direction, tabindex: 0, role: "region", "aria-label": name }, children);
}

export const FLAGS = "giu"; // of patterns that highlight

// The text at once, and with its matches marked as soon as they are found.
export function marked(text, pattern) {
  if (!pattern || text.length > LONGEST_MARKED || !isPattern(pattern)) return [text];
  const place = el("span", {}, text);
  matches(text, pattern, FLAGS, MOST_MARKS).then((places) => places.length && put(place, split(text, places)));
  return [place];
}

function isPattern(text) {
  try {
    return new RegExp(text, FLAGS) !== null;
  } catch {
    return false;
  }
}

function split(text, places) {
  const made = places.flatMap(([from, to], i) => [text.slice(places[i - 1]?.[1] ?? 0, from), el("mark", {}, text.slice(from, to))]);
  return [...made, text.slice(places.at(-1)[1])];
}

function table(value, view) {
  const entries = Array.isArray(value) ? value.map((each, i) => [`${i + 1}`, each])
    : isObject(value) ? Object.entries(value) : [["value", value]];
  const cell = (each) => (typeof each === "string" ? marked(each, view.highlight) : [JSON.stringify(each) ?? ""]);
  const rows = entries.slice(0, MOST_ROWS).map(([name, each]) => el("tr", {}, el("th", { scope: "row", class: "text" }, name),
    el("td", { class: "text", dir: typeof each === "string" ? view.direction : null },
      cell(each))));
  const rest = entries.length - rows.length;
  return el("div", { class: "part sheet", tabindex: 0, role: "region", "aria-label": "Table" },
    el("table", {}, el("tbody", {}, rows)), rest > 0 && el("p", { class: "read" }, `and ${rest} more`));
}

function address(value, kind) {
  if (typeof value === "string") return value;
  const found = value?.[kind] ?? value?.url ?? value?.address;
  return typeof found === "string" ? found : "";
}

export function isAllowed(text, places) {
  let found;
  try {
    found = new URL(text);
  } catch {
    return false;
  }
  return ["http:", "https:"].includes(found.protocol) && !found.username
    && places.some((place) => found.href.startsWith(new URL(place).href));
}

function notLoaded(kind, text, caption) {
  return el("figure", { class: "part" }, el("p", { class: "missing" }, `The ${kind} at `, el("code", {}, text || "an empty address"),
    " is not loaded: the stream does not list its place."), caption && el("figcaption", { dir: "auto" }, caption));
}

function image(text, view, caption) {
  if (!isAllowed(text, view.media)) return notLoaded("image", text, caption);
  const shown = el("img", { src: text, alt: caption ?? "The instance as an image", referrerpolicy: "no-referrer" });
  const figure = el("figure", { class: "part" }, shown, caption && el("figcaption", { dir: "auto" }, caption));
  shown.addEventListener("error", () => shown.replaceWith(
    el("p", { class: "missing" }, "The image at ", el("code", {}, text), " could not be loaded.")));
  return figure;
}

function audio(text, view, caption) {
  if (!isAllowed(text, view.media)) return notLoaded("sound", text, caption);
  return el("figure", { class: "part" },
    el("audio", { src: text, controls: true, preload: "auto", "aria-label": caption ?? "The instance as sound" }),
    caption && el("figcaption", { dir: "auto" }, caption));
}
