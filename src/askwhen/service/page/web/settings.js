// The settings of a stream, in words, and why they stay as they are.

import { el } from "./dom.js";

const DECIDED = "the log was decided by it, and must decide the same when it is played again";
const PROMISED = "questions that are open, and what became of others, follow from it";
const ONCE = "it is said when a stream is made; the service has no call that changes it";
const WHY = [
  [DECIDED, ["labels", "features", "algorithm", "letters", "raw", "budget", "seed"]],
  [PROMISED, ["slots", "decide", "order", "lease", "grace", "forget"]],
  [ONCE, ["guess", "view"]],
];

const MOST_LABELS = 20;

function inWords(name, value) {
  if (name === "labels" && Array.isArray(value)) {
    return value.slice(0, MOST_LABELS).join(", ") + (value.length > MOST_LABELS ? ` and ${value.length - MOST_LABELS} more` : "");
  }
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (["lease", "grace", "forget"].includes(name)) return `${value} s`;
  if (typeof value !== "object") return String(value);
  const parts = Object.entries(value).filter(([, each]) => each !== null && each !== "" && !(Array.isArray(each) && !each.length));
  return parts.map(([part, each]) => `${part} ${Array.isArray(each) ? each.join(", ") : each}`).join("; ") || "none";
}

export function settled(settings, name) {
  const rows = WHY.flatMap(([why, names]) => names.map((each) => el("tr", {}, el("th", { scope: "row", class: "text" }, each),
    el("td", { class: "text wrap", dir: "auto" }, inWords(each, settings[each])), el("td", { class: "text wrap read" }, why))));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Settings of ${name}` }, el("table", {},
    el("thead", {}, el("tr", {}, ["What stays", "As it is", "Why"].map((text) => el("th", { scope: "col", class: "text" }, text)))), el("tbody", {}, rows)));
}
