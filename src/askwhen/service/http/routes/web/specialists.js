// What specialists read of a stream: forgetting, asking, labels one by one, switches.

import { count, el, percent } from "./dom.js";
import { blocks, dots, legend, stack } from "./charts.js";
import { Figure } from "./figures.js";
import { axis, known, shares } from "./plain.js";

export function names({ experts, weights }) {
  const found = Array.isArray(experts) ? experts : [];
  return weights.map((_, k) => (found[k] === undefined ? `level ${k + 1}` : String(found[k])));
}

// Parts of the model that forget alike, together: there may be more parts than colours.
function bySpeed(names_, weights) {
  const speeds = names_.map((each) => /c = (\S+)$/.exec(each)?.[1]);
  if (speeds.some((each) => each === undefined)) return [names_, weights];
  const found = [...new Set(speeds)];
  const text = (speed, k) => `c = ${count(Number(speed))}${k === 0 ? ", slowest" : k === found.length - 1 ? ", fastest" : ""}`;
  return [found.map(text), found.map((speed) => weights.reduce((sum, each, k) => sum + (speeds[k] === speed ? each : 0), 0))];
}

export function driftFigure(name) {
  return new Figure({
    title: "Drift", wide: true, file: `${name}-drift`,
    read: "How much each speed of forgetting counts: weights that move mean that the data changes. Upright lines are switches.",
    columns: ["Instances", "Labels", "Weights"],
    key: ({ names: found }) => found.length > 1 && blocks(bySpeed(found, found.map(() => 0))[0]),
    draw: ({ points, switches, names: found }, width) => {
      const usable = points.filter((point) => point.weights.length === found.length && !Array.isArray(point.weights[0]));
      if (found.length < 2 || usable.length < 2) return null;
      const pairs = usable.map((point) => [point.rounds, bySpeed(found, point.weights)[1]]);
      return stack({ title: "Weights of the speeds of forgetting", width, height: 220, names: pairs[0][1], points: pairs, x: axis(pairs), y: shares(), marks: switches });
    },
    rows: ({ points, names: found }) => points.toReversed().map((point) => [count(point.rounds), count(point.told),
      point.weights.flat().map((each, k) => `${found[k] ?? k}: ${percent(each)}`).join(", ") || "none"]),
  });
}

export function askedFigure(name) {
  const scale = (values) => ({ low: Math.min(0, ...values), high: Math.max(0.01, ...values) });
  const rounded = (margin) => Math.round(margin * 1e6) / 1e6 + 0; // rounding errors are no margins
  return new Figure({
    title: "What is asked", file: `${name}-asked`,
    read: "The last instances: how likely each was to be asked about, against its margin. Those near a margin of 0 are the doubtful ones.",
    columns: ["Instance", "Margin", "Probability", "Asked"],
    key: () => legend([["asked", 1], ["not asked", 5]], { rings: true }),
    draw: (points, width) => points.length && dots({
      title: "Probability of asking against the margin", width, points: points.map(([round, margin, probability, asked]) => [rounded(margin), probability, asked,
        `instance ${count(round)}: margin ${margin.toFixed(3)}, asked about with ${percent(probability)}${asked ? ", and asked" : ""}`]),
      x: { name: "margin", format: (value) => String(+value.toPrecision(3)), ...scale(points.map((point) => rounded(point[1]))) }, y: shares(),
    }) || null,
    rows: (points) => points.slice(-200).toReversed().map(([round, margin, probability, asked]) => [count(round), margin.toFixed(3), percent(probability), asked ? "yes" : "no"]),
  });
}

export function byLabel(accuracy) {
  const head = ["Label", "Precision", "Recall", "F"];
  const cell = (each) => (each ? [known(each), el("br"), el("span", { class: "read" }, `${percent(each.low, 0)} to ${percent(each.high, 0)}`)] : "unknown");
  const lines_ = Object.entries(accuracy.classes ?? {}).map(([label, each]) => [label, each.precision, each.recall, each.f_measure]);
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "By label" }, el("table", { class: "by-label" },
    el("thead", {}, el("tr", {}, head.map((text, i) => el("th", { scope: "col", class: i ? null : "text" }, text)))),
    el("tbody", {}, lines_.map(([label, ...cells]) => el("tr", {}, el("th", { scope: "row", class: "text" }, label), cells.map((each) => el("td", {}, cell(each))))))));
}

export function lastSwitches(all, timed) {
  if (!all.length) return el("p", { class: "read" }, "None: the data has not changed so much that the model was restarted.");
  const times = new Map(timed.map(([round, time]) => [round, time]));
  return el("ul", {}, all.slice(-8).toReversed().map((round) => el("li", {}, `instance ${count(round)}`,
    times.has(round) && `, ${new Date(1000 * times.get(round)).toLocaleString()}`)));
}
