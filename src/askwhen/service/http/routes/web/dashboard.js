// The dashboard of a stream, live: the service sends an overview after each change.

import { count, duration, el, percent, plural, put, warn } from "./dom.js";
import { call, linked, streamHere, streamPath } from "./api.js";
import { page } from "./shell.js";
import { bars, blocks, dots, legend, lines, squares, stack } from "./charts.js";
import { Figure } from "./figures.js";

const name = streamHere();
const shares = (low = 0) => ({ low, high: 1, format: (value) => `${Math.round(100 * value)} %` });
const axis = (along, points) => ({ name: along === "told" ? "labels" : "instances", low: 0, high: Math.max(points.at(-1)?.[0] ?? 1, 1), least: 1, format: short });
const range = ([value, low, high]) => (low === null ? "unknown" : `${percent(low)} to ${percent(high)}`);

function short(value) {
  if (value >= 1e6) return `${+(value / 1e6).toFixed(2)} M`;
  return value >= 1e4 ? `${+(value / 1e3).toFixed(1)} k` : count(value);
}

page(async (main) => {
  const found = await call("GET", streamPath(name, "/overview"));
  const parts = build(found);
  put(main, parts.all);
  const show = (data) => update(parts, data);
  show(found);
  follow(parts.live, show);
  let timer;
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => parts.figures.forEach((figure) => figure.redraw()), 150);
  });
});

function follow(live, show) {
  const source = new EventSource(linked(streamPath(name, "/overview/events")));
  let wasLive = true;
  source.addEventListener("overview", (event) => {
    const data = JSON.parse(event.data);
    show(data);
    put(live, `Live. Last change ${new Date(1000 * data.time).toLocaleTimeString()}.`);
    wasLive = true;
  });
  source.onerror = () => {
    const text = "Not live: the service cannot be reached. The numbers are the last known ones.";
    put(live, text);
    if (wasLive) warn(text);
    wasLive = false;
  };
  addEventListener("pagehide", () => source.close());
}

function tile(text) {
  const value = el("dd", { class: "value" });
  const note = el("dd", { class: "note" });
  return { element: el("div", { class: "tile" }, el("dt", {}, text), value, note), set: (a, b) => { put(value, a); put(note, b); } };
}

function build(found) {
  const tiles = { accuracy: tile("Accuracy of all instances"), recent: tile("Accuracy lately"), budget: tile("Asked today"), waiting: tile("Questions waiting") };
  const figures = {
    accuracy: accuracyFigure(), drift: driftFigure(), asked: askedFigure(), waiting: waitingFigure(),
    people: found.people && peopleFigure(), confusion: confusionFigure(),
  };
  const live = el("p", { class: "live" }, "Connecting …");
  const advice = el("p", { class: "lead" });
  const kinds = el("section", { class: "card" });
  const switches = el("section", { class: "card" });
  return {
    tiles, live, advice, kinds, switches, figures: Object.values(figures).filter(Boolean), by: figures,
    all: [el("div", { class: "head" }, el("h1", {}, name), live),
      el("dl", { class: "tiles" }, Object.values(tiles).map((each) => each.element)), advice,
      el("div", { class: "cards" }, figures.accuracy.element, figures.drift.element, figures.asked.element, figures.waiting.element,
        figures.confusion.element, figures.people?.element, kinds, switches)],
  };
}

function update(parts, data) {
  const { accuracy, drift } = data.report;
  parts.tiles.accuracy.set(percent(accuracy.overall.value), `${percent(accuracy.overall.low)} to ${percent(accuracy.overall.high)}, with ${percent(accuracy.confidence, 0)} confidence at every moment`);
  parts.tiles.recent.set(percent(accuracy.recent.value), `${percent(accuracy.recent.low)} to ${percent(accuracy.recent.high)}, the last ${count(accuracy.recent.rounds)} instances`);
  parts.tiles.budget.set(count(data.today.asked), budgetNote(data));
  parts.tiles.waiting.set(count(data.waiting.count), data.waiting.count ? `the oldest for ${duration(data.waiting.oldest)}, half of them for over ${duration(data.waiting.middle)}` : "no question waits for an answer");
  const open = accuracy.unanswered;
  put(parts.advice, accuracy.advice || (accuracy.answered ? "" : "No label is known yet, so nothing is known of the accuracy."),
    accuracy.answered > 0 && open > accuracy.answered && ` ${count(open)} of ${plural(accuracy.questions, "question")} have no label: the estimate takes them for right, the interval for either.`);
  const switches = drift.switches ?? [];
  const line = over(data.history, switches);
  parts.by.accuracy.update(line, `${plural(accuracy.answered, "label")} of ${plural(accuracy.questions, "question")} known so far.${line.along === "told"
    ? " The instances came all at once: the picture shows what was known of them as labels came." : ""}`);
  parts.by.drift.update({ ...line, names: names(drift) });
  parts.by.asked.update(data.today.decisions);
  parts.by.waiting.update(data.waiting.ages);
  parts.by.people?.update(data.people, data.people.krippendorff === null ? "" : `Agreement of all (Krippendorff's alpha): ${data.people.krippendorff.toFixed(2)}.`);
  parts.by.confusion.update(accuracy, confusionNote(accuracy));
  put(parts.kinds, el("h2", {}, "By label"), byLabel(accuracy));
  put(parts.switches, el("h2", {}, "Last switches"), lastSwitches(switches, data.today.switches));
}

// Along the instances; where those came at once, as from a file, along the labels that came after them. Of the same place,
// the last point.
function over(history, switches) {
  const places = (along) => new Set(history.map((point) => point[along])).size;
  const along = places("told") > places("rounds") ? "told" : "rounds";
  const at = (round) => (along === "rounds" ? round : history.find((point) => point.rounds > round)?.told ?? history.at(-1).told);
  return { along, points: history.filter((point, i) => point[along] !== history[i + 1]?.[along]), switches: switches.map(at) };
}

function budgetNote({ stream, report, today }) {
  const budget = stream.settings.budget;
  const share = today.rounds ? ` (${percent(today.asked / today.rounds)} of ${count(today.rounds)} instances)` : "";
  if (!budget) return `no budget is set${share}`;
  const left = [];
  if (budget.count !== null && budget.per !== null) {
    const most = Math.floor((budget.count * 86400) / budget.per);
    left.push(`about ${count(Math.max(most - today.asked, 0))} of ${count(most)} a day left`);
  }
  if (budget.rate !== null) {
    const allowed = Math.floor(budget.rate * today.rounds);
    left.push(`${count(Math.max(allowed - today.asked, 0))} left of ${percent(budget.rate, 0)} of today's instances`);
  }
  if (budget.most !== null) left.push(`${count(Math.max(budget.most - stream.asked, 0))} of ${count(budget.most)} left in all`);
  return `${left.join("; ")}${share}`;
}

function names({ experts, weights }) {
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

function accuracyFigure() {
  return new Figure({
    title: "Accuracy over time", wide: true, file: `${name}-accuracy`,
    read: "From the few labels that were asked for, for all instances: the band holds the true value at any time, with 95 % confidence. Dashed: the last instances only. Upright lines are switches.",
    columns: ["Instances", "Labels", "All", "Interval", "Lately", "Interval"],
    key: () => legend([["all instances", 0], ["lately", 1]]),
    draw: ({ along, points, switches }, width) => {
      const of = (which) => points.map((point) => [point[along], ...point[which]]);
      const low = Math.min(0.5, ...points.flatMap((point) => [point.overall[1], point.recent[1]]).filter((each) => each !== null));
      return lines({ title: "Accuracy over time", width, height: 300, x: axis(along, of("overall")), y: shares(Math.max(Math.floor(low * 10) / 10, 0)), marks: switches,
        series: [{ name: "all", points: of("overall") }, { name: "lately", points: of("recent") }] });
    },
    rows: ({ points }) => points.toReversed().map((point) => [count(point.rounds), count(point.told), percent(point.overall[0]), range(point.overall), percent(point.recent[0]), range(point.recent)]),
  });
}

function driftFigure() {
  return new Figure({
    title: "Drift", wide: true, file: `${name}-drift`,
    read: "How much each speed of forgetting counts: weights that move mean that the data changes. Upright lines are switches.",
    columns: ["Instances", "Labels", "Weights"],
    key: ({ names: found }) => found.length > 1 && blocks(bySpeed(found, found.map(() => 0))[0]),
    draw: ({ along, points, switches, names: found }, width) => {
      const usable = points.filter((point) => point.weights.length === found.length && !Array.isArray(point.weights[0]));
      if (found.length < 2 || usable.length < 2) return null;
      const pairs = usable.map((point) => [point[along], bySpeed(found, point.weights)[1]]);
      return stack({ title: "Weights of the speeds of forgetting", width, height: 220, names: pairs[0][1], points: pairs, x: axis(along, pairs), y: shares(), marks: switches });
    },
    rows: ({ points, names: found }) => points.toReversed().map((point) => [count(point.rounds), count(point.told),
      point.weights.flat().map((each, k) => `${found[k] ?? k}: ${percent(each)}`).join(", ") || "none"]),
  });
}

function askedFigure() {
  const scale = (values) => ({ low: Math.min(0, ...values), high: Math.max(0.001, ...values) });
  return new Figure({
    title: "What is asked", file: `${name}-asked`,
    read: "The last instances: how likely each was to be asked about, against its margin. Those near a margin of 0 are the doubtful ones.",
    columns: ["Instance", "Margin", "Probability", "Asked"],
    key: () => legend([["asked", 1], ["not asked", 5]], { rings: true }),
    draw: (points, width) => points.length && dots({
      title: "Probability of asking against the margin", width, points: points.map(([, margin, probability, asked]) => [margin, probability, asked]),
      x: { name: "margin", format: (value) => String(+value.toPrecision(3)), ...scale(points.map((point) => point[1])) }, y: shares(),
    }) || null,
    rows: (points) => points.slice(-200).toReversed().map(([round, margin, probability, asked]) => [count(round), margin.toFixed(3), percent(probability), asked ? "yes" : "no"]),
  });
}

function waitingFigure() {
  return new Figure({
    title: "Questions waiting", file: `${name}-waiting`, read: "Questions with a free place, by how long they have waited.",
    columns: ["Age", "Questions"],
    draw: (ages, width) => bars({ title: "Questions waiting by age", width, rows: ages.map(([text, number]) => [text, number, count(number)]) }),
    rows: (ages) => ages.map(([text, number]) => [text, count(number)]),
  });
}

function peopleFigure() {
  return new Figure({
    title: "People", wide: true, file: `${name}-people`, read: "Answers of each person; in the numbers also how fast they are, and how often others agreed.",
    columns: ["Person", "Answers", "Unsure", "Skipped", "Undone", "Time for one", "Same as others"],
    draw: ({ persons }, width) => (persons.length ? bars({ title: "Answers of each person", width, rows: persons.map((each) => [each.name, each.answers,
      `${count(each.answers)}${each.seconds === null ? "" : `, ${duration(each.seconds)}`}`]) }) : null),
    rows: ({ persons }) => persons.map((each) => [each.name, count(each.answers), count(each.unsure), count(each.skipped), count(each.undone),
      duration(each.seconds), each.compared ? `${percent(each.same / each.compared)} of ${count(each.compared)}` : "no other answered"]),
  });
}

const MOST_BARS = 15;

// A matrix where it can be read; with many labels the pairs that are confused most.
function confusionFigure() {
  const interval = (cell) => `${percent(cell.low)} to ${percent(cell.high)}`;
  return new Figure({
    title: "Confusion matrix", wide: true, file: `${name}-confusion`,
    read: "Of the instances that were predicted to be this, the share that has each label, estimated for all of them.",
    columns: ["Predicted", "Label", "Share", "Interval"],
    draw: ({ confusion, confused }, width) => {
      const title = "Predicted label against label";
      if (confusion) return squares({ title, width, labels: confusion.labels, rows: confusion.rows.map((row) => row.map((cell) => cell.value)) });
      if (!confused?.length) return null;
      return bars({ title, width, rows: confused.slice(0, MOST_BARS).map((pair) => [`${pair.predicted} instead of ${pair.label}`, pair.instances,
        `${count(Math.round(pair.instances))} (${percent(pair.share.value, 0)})`]) });
    },
    rows: ({ confusion, confused }) => (confusion ? confusion.rows.flatMap((row, i) => row.map((cell, k) => [confusion.labels[i], confusion.labels[k], percent(cell.value), interval(cell)]))
      : (confused ?? []).map(({ predicted, label, share }) => [predicted, label, percent(share.value), interval(share)])),
  });
}

function confusionNote({ confusion, confused }) {
  if (confusion) return "";
  if (!confused) return "With so many labels confusions are not counted. By label has the precision and recall of each.";
  return confused.length ? `There are too many labels for a picture of all. These are the pairs with most instances, about so many each, and their share of what was predicted; the numbers have ${count(confused.length)} of them.`
    : "No label was confused with another so far.";
}

function byLabel(accuracy) {
  const head = ["Label", "Precision", "Recall", "F"];
  const cell = (each) => (each ? [percent(each.value), el("br"), el("span", { class: "read" }, `${percent(each.low, 0)} to ${percent(each.high, 0)}`)] : "unknown");
  const lines_ = Object.entries(accuracy.classes ?? {}).map(([label, each]) => [label, each.precision, each.recall, each.f_measure]);
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "By label" }, el("table", { class: "by-label" },
    el("thead", {}, el("tr", {}, head.map((text, i) => el("th", { scope: "col", class: i ? null : "text" }, text)))),
    el("tbody", {}, lines_.map(([label, ...cells]) => el("tr", {}, el("th", { scope: "row", class: "text" }, label), cells.map((each) => el("td", {}, cell(each))))))));
}

function lastSwitches(all, timed) {
  if (!all.length) return el("p", { class: "read" }, "None: the data has not changed so much that the model was restarted.");
  const times = new Map(timed.map(([round, time]) => [round, time]));
  return el("ul", {}, all.slice(-8).toReversed().map((round) => el("li", {}, `instance ${count(round)}`,
    times.has(round) && `, ${new Date(1000 * times.get(round)).toLocaleString()}`)));
}
