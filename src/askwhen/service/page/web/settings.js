// The settings of a stream, in words, and why they stay as they are.

import { el } from "./dom.js";

const DECIDED = "These stay: the log was decided by them, and must decide the same when it is played again.";
const PROMISED = "These stay: questions that are open, and what became of others, follow from them.";
const ONCE = "These are said when a stream is made; the service has no call that changes them.";
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

export function settled(settings) {
  return WHY.map(([why, names]) => [el("p", { class: "read" }, why),
    el("dl", { class: "facts" }, names.map((name) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, inWords(name, settings[name])))]))]);
}
