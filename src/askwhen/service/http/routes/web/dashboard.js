// The dashboard of a stream, live: the service sends an overview after each change.

import { count, duration, el, percent, plural, put, warn } from "./dom.js";
import { call, linked, streamHere, streamPath } from "./api.js";
import { page } from "./shell.js";
import { isNumber } from "./label_field.js";
import { MOST_SQUARES, accuracyFigure, confusionFigure, daysFigure, deliveredFigure, ends, known, numbersFigure, pairsFigure, peopleFigure, waitingFigure } from "./plain.js";
import { adviserFigure, note } from "./advisers.js";
import { hasBacklog, remaining } from "./remaining.js";
import { askedFigure, byLabel, driftFigure, lastSwitches, names } from "./specialists.js";

const name = streamHere();

page(async (main) => {
  const found = await call("GET", streamPath(name, "/overview"));
  const parts = build(found);
  put(main, parts.all);
  const show = (data) => update(parts, data);
  show(found);
  follow(parts.live, show);
  const redraw = () => parts.figures.forEach((figure) => figure.redraw());
  parts.specialists.addEventListener("toggle", redraw); // what is hidden has no width
  let timer;
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(redraw, 150);
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

function tile(text, title) {
  const value = el("dd", { class: "value" });
  const note = el("dd", { class: "note" });
  return { element: el("div", { class: "tile", title }, el("dt", {}, text), value, note), set: (a, b, isKnown = true) => { put(value, a); value.classList.toggle("unknown", !isKnown); put(note, b); } };
}

function build(found) {
  const { within } = found.stream.settings;
  const tiles = {
    accuracy: tile(within ? `Within ${within} of the label` : "Accuracy of all instances", "The share of instances whose prediction was right when they came"),
    recent: tile(within ? "The same lately" : "Accuracy lately", "The same, of the last instances only"),
    budget: tile("Asked today", "Questions that were asked since midnight (UTC)"),
    waiting: tile("Questions waiting", "Questions that still need an answer"),
    backlog: tile("Instances waiting", "Instances of the backlog, which are decided as fast as people answer"),
  };
  const figures = {
    accuracy: accuracyFigure(name), advisers: found.advisers && adviserFigure(name), delivered: deliveredFigure(name, isNumber(found.stream.settings)), days: daysFigure(name, found.people !== null), pairs: isNumber(found.stream.settings) ? numbersFigure(name) : pairsFigure(name),
    waiting: waitingFigure(name), confusion: confusionFigure(name), people: found.people && peopleFigure(name), drift: driftFigure(name), asked: askedFigure(name),
  };
  const { drift, asked, ...plain } = figures;
  const live = el("p", { class: "live" }, "Connecting …");
  const sentence = el("p", { class: "lead sentence" });
  const truth = el("p", { class: "read truth" });
  const kinds = el("section", { class: "card" });
  const switches = el("section", { class: "card" });
  const specialists = el("details", { class: "specialists" }, el("summary", {}, "For specialists"),
    el("div", { class: "cards" }, drift.element, asked.element, switches, kinds));
  return {
    tiles, live, sentence, truth, kinds, switches, specialists, figures: Object.values(figures).filter(Boolean), by: figures,
    all: [el("div", { class: "head" }, el("h1", {}, name), live), sentence,
      el("dl", { class: "tiles" }, Object.values(tiles).map((each) => each.element)), truth,
      el("div", { class: "cards" }, Object.values(plain).filter(Boolean).map((each) => each.element)), specialists],
  };
}

function update(parts, data) {
  const { accuracy, drift } = data.report;
  put(parts.sentence, data.sentence.replace(/(\d)%/gu, "$1\u00a0%"));
  put(parts.truth, accuracy.labels.sentence.replace(/(\d)%/gu, "$1\u00a0%"));
  const because = (each) => (each.why_unknown ? ` (${each.why_unknown})` : "");
  parts.tiles.accuracy.set(known(accuracy.overall), `${ends(accuracy.overall)}, with ${percent(accuracy.confidence, 0)} confidence at every moment${because(accuracy.overall)}`, accuracy.overall.value !== null);
  parts.tiles.recent.set(known(accuracy.recent), `${ends(accuracy.recent)}, the last ${count(accuracy.recent.rounds)} instances${because(accuracy.recent)}`, accuracy.recent.value !== null);
  parts.tiles.budget.set(count(data.today.asked), budgetNote(data));
  parts.tiles.waiting.set(count(data.waiting.count), waitingNote(data));
  parts.tiles.backlog.element.hidden = !hasBacklog(data.backlog);
  parts.tiles.backlog.set(count(data.backlog.undecided), remaining(data.backlog, `at the pace of ${data.backlog.active > 1 ? `${data.backlog.active} people` : "one person"}`));
  const switches = drift.switches ?? [];
  const line = { points: data.history.filter((point, i) => point.rounds !== data.history[i + 1]?.rounds), switches };
  const { by } = parts;
  by.accuracy.update(line, `${plural(accuracy.answered, "label")} of ${plural(accuracy.questions, "question")} known so far.`);
  by.advisers?.update(data.advisers, note(data.advisers));
  by.delivered.update(data.delivered);
  by.days.update(data.days);
  by.pairs.update(data.numbers ?? data.confused);
  by.waiting.update(data.waiting.ages);
  by.people?.update(data.people, data.people.krippendorff === null ? "" : `Agreement of all (Krippendorff's alpha): ${data.people.krippendorff.toFixed(2)}.`);
  const { confusion } = accuracy;
  by.confusion.element.hidden = !confusion || confusion.labels.length > MOST_SQUARES;
  if (!by.confusion.element.hidden) by.confusion.update(confusion);
  by.drift.update({ ...line, names: names(drift) });
  by.asked.update(data.today.decisions);
  parts.kinds.hidden = !Object.keys(accuracy.classes).length;
  put(parts.kinds, el("h2", {}, "By label"), byLabel(accuracy));
  put(parts.switches, el("h2", {}, "Last switches"), lastSwitches(switches, data.today.switches));
}

// Questions that no one who is there may answer, and why.
function stuckNote({ count: number, why }) {
  if (!number) return "";
  const reasons = why.map(([text, each]) => `${count(each)} ${text}`).join("; ");
  return `; ${count(number)} of them can be answered by no one now${reasons ? ` (${reasons})` : ""}`;
}

function waitingNote({ waiting, pace }) {
  if (!waiting.count) return "no question waits for an answer";
  const end = pace ? `about ${duration((3600 * waiting.count) / pace)} to the end at the pace of the last hour` : "no answer in the last hour";
  return `the oldest for ${duration(waiting.oldest)}, half of them for over ${duration(waiting.middle)}; ${end}${stuckNote(waiting.unanswerable)}`;
}

function budgetNote({ stream, backlog, today }) {
  const budget = stream.settings.budget;
  const share = today.rounds ? ` (${percent(today.asked / today.rounds)} of ${count(today.rounds)} instances)` : "";
  if (!budget) return `no budget is set${share}`;
  const left = [];
  if (budget.errors) left.push(`as many as at most ${+(100 * budget.errors).toFixed(2)} % errors need`);
  if (budget.count !== null && budget.per !== null) {
    const most = Math.floor((budget.count * 86400) / budget.per);
    left.push(`about ${count(Math.max(most - today.asked, 0))} of ${count(most)} a day left`);
  }
  if (budget.rate !== null && hasBacklog(backlog)) {
    left.push(`${percent(budget.rate, 0)} of the pile, more of it in the beginning`);
  } else if (budget.rate !== null) {
    const allowed = Math.floor(budget.rate * today.rounds);
    left.push(`${count(Math.max(allowed - today.asked, 0))} left of ${percent(budget.rate, 0)} of today's instances`);
  }
  if (budget.most !== null) left.push(`${count(Math.max(budget.most - stream.asked, 0))} of ${count(budget.most)} left in all`);
  return `${left.join("; ")}${share}`;
}
