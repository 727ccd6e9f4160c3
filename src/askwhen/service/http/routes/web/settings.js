// The settings of a stream that stay as they are, in words, and why.

import { el } from "./dom.js";

const WHY = "Decisions in the log depend on these, and must be the same when it is played again.";
const NAMES = ["features", "algorithm", "letters", "raw", "seed", "version", "certainty", "several", "within", "bounds"];

const KINDS = { flag: "number", names: "category" };

function inWords(value) {
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.join(" to ");
  const parts = Object.entries(value).filter(([, each]) => each !== null && each !== "" && !(Array.isArray(each) && !each.length));
  return parts.map(([part, each]) => `${part} ${part === "schema" ? columnsInWords(each) : Array.isArray(each) ? each.join(", ") : each.name ?? each}`).join("; ") || "none";
}

// The columns that features are made of, and what each of them is.
function columnsInWords({ columns }) {
  return columns.filter(({ type }) => type !== "other").map(({ name, type }) => `${name} (${KINDS[type] ?? type})`).join(", ");
}

export function settled(settings) {
  const names = settings.advisers === null ? [...NAMES, "advisers"] : NAMES;
  return [el("p", { class: "read" }, WHY),
    el("dl", { class: "facts" }, names.map((name) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, inWords(settings[name])))]))];
}
