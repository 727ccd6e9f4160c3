// What everybody reads of a stream: its accuracy over time, what was delivered, answers, confusions, people.

import { count, duration, el, percent, plural } from "./dom.js";
import { bars, blocks, columns, dots, legend, lines, squares } from "./charts.js";
import { Figure } from "./figures.js";

export const shares = (low = 0) => ({ low, high: 1, format: (value) => `${Math.round(100 * value)} %` });
export const axis = (points) => ({ name: "instances", low: 0, high: Math.max(points.at(-1)?.[0] ?? 1, 1), least: 1, format: short });
export const known = ({ value }) => (value === null ? "not known yet" : percent(value));
export const ends = ({ low, high }) => (low === null ? "unknown" : `${percent(low)} to ${percent(high)}`);
const estimate = ([value, low, high]) => ({ value, low, high });

function short(value) {
  if (value >= 1e6) return `${+(value / 1e6).toFixed(2)} M`;
  return value >= 1e4 ? `${+(value / 1e3).toFixed(1)} k` : count(value);
}

export function accuracyFigure(name) {
  const said = (point, which) => `until instance ${count(point.rounds)}: ${known(estimate(point[which]))} (${ends(estimate(point[which]))})`;
  return new Figure({
    title: "Accuracy over time", wide: true, file: `${name}-accuracy`,
    read: "What is known now of all instances until each moment. The band holds the true value at any time, with 95 % confidence. Dashed: the last instances until then only. Upright lines are switches.",
    columns: ["Instances", "Labels", "All", "Interval", "Lately", "Interval"],
    key: () => legend([["all instances", 0], ["lately", 1]]),
    draw: ({ points, switches }, width) => {
      const of = (which) => points.map((point) => [point.rounds, ...point[which], said(point, which)]);
      const low = Math.min(0.5, ...points.flatMap((point) => [point.overall[1], point.recent[1]]).filter((each) => each !== null));
      return lines({ title: "Accuracy over time", width, height: 300, x: axis(of("overall")), y: shares(Math.max(Math.floor(low * 10) / 10, 0)), marks: switches,
        series: [{ name: "all", points: of("overall") }, { name: "lately", points: of("recent") }] });
    },
    rows: ({ points }) => points.toReversed().map((point) => [count(point.rounds), count(point.told),
      ...["overall", "recent"].flatMap((which) => [known(estimate(point[which])), ends(estimate(point[which]))])]),
  });
}

const MOST_BARS = 15;

// Labels by their number of instances, or stretches of numbers in their order.
export function deliveredFigure(name, isNumber) {
  const sorted = (delivered) => (isNumber ? (each) => each : (each) => each.sort((a, b) => b[1] - a[1]))( Object.entries(delivered).map(([label, { people, predicted }]) => [label, people + predicted, people, predicted]));
  return new Figure({
    title: "Labels delivered", file: `${name}-delivered`, read: "How many instances have each label: from people, or else as predicted when they came.",
    columns: ["Label", "Instances", "From people", "Predicted"],
    draw: (delivered, width) => {
      const rows = sorted(delivered);
      const all = rows.reduce((sum, row) => sum + row[1], 0);
      return rows.length ? bars({ title: "Instances with each label", width, rows: rows.slice(0, MOST_BARS).map(([label, number, people, predicted]) => [label, number,
        `${count(number)} (${percent(number / all, 0)})`, `${label}: ${count(people)} from people, ${count(predicted)} predicted`]) }) : null;
    },
    rows: (delivered) => sorted(delivered).map(([label, ...numbers]) => [label, ...numbers.map(count)]),
  });
}

const MOST_PEOPLE = 7;
const dayOf = (time) => new Date(1000 * time).toLocaleDateString("en", { month: "short", day: "numeric", timeZone: "UTC" });

export function daysFigure(name, people) {
  const namesOf = (days) => {
    const sums = new Map();
    for (const { people: each } of days) for (const [who, number] of Object.entries(each ?? {})) sums.set(who, (sums.get(who) ?? 0) + number);
    const found = [...sums].sort((a, b) => b[1] - a[1]).map(([who]) => who);
    return found.length > MOST_PEOPLE ? [...found.slice(0, MOST_PEOPLE), "others"] : found;
  };
  const parts = (day, names) => {
    if (!names.length) return [["answers", day.answers]];
    const first = names.filter((who) => who !== "others").map((who) => [who, day.people[who] ?? 0]);
    return names.at(-1) === "others" ? [...first, ["others", day.answers - first.reduce((sum, [, number]) => sum + number, 0)]] : first;
  };
  return new Figure({
    title: "Answers per day", file: `${name}-days`, read: people ? "Answers of each person on each day (UTC)." : "Answers on each day (UTC).",
    columns: people ? ["Day", "Answers", "People"] : ["Day", "Answers"],
    key: (days) => namesOf(days).length > 1 && blocks(namesOf(days)),
    draw: (days, width) => (days.length ? columns({ title: "Answers per day", width, rows: days.map((day) => [dayOf(day.day), parts(day, namesOf(days)), day.answers]) }) : null),
    rows: (days) => days.toReversed().map((day) => [dayOf(day.day), count(day.answers),
      ...(people ? [Object.entries(day.people).map(([who, number]) => `${who}: ${count(number)}`).join(", ")] : [])]),
  });
}

export function pairsFigure(name) {
  return new Figure({
    title: "What is confused most", file: `${name}-confused`, read: "Among the answered questions: what was predicted, and what people said instead.",
    columns: ["Predicted", "People said", "Answers"],
    draw: (pairs, width) => (pairs.length ? bars({ title: "Wrong predictions by pair of labels", width, rows: pairs.map(({ predicted, label, answers }) =>
      [`${predicted}, but ${label}`, answers, count(answers), `predicted ${predicted}, people said ${label}: ${plural(answers, "answer")}`]) }) : null),
    rows: (pairs) => pairs.map(({ predicted, label, answers }) => [predicted, label, count(answers)]),
  });
}

// Predictions against the numbers of people: on the line they are the same.
export function numbersFigure(name) {
  const short_ = (value) => String(Number(value.toPrecision(4)));
  return new Figure({
    title: "Predictions and answers", file: `${name}-numbers`, read: "The last answered questions: from left to right what people said, upwards what was predicted.",
    columns: ["People said", "Predicted", "Off by"],
    draw: ({ shown }, width) => {
      if (!shown.length) return null;
      const ends_ = [Math.min(...shown.flat()), Math.max(...shown.flat())];
      const axis_ = { low: ends_[0], high: ends_[1] > ends_[0] ? ends_[1] : ends_[0] + 1, format: short_ };
      return dots({ title: "Predictions against answers", width, x: { ...axis_, name: "people said" }, y: axis_,
        points: shown.map(([said, label]) => [label, said, true, `predicted ${short_(said)}, people said ${short_(label)}`]) });
    },
    rows: ({ shown }) => shown.toReversed().map(([said, label]) => [short_(label), short_(said), short_(Math.abs(said - label))]),
  });
}

export const MOST_SQUARES = 12;

// A matrix where it can be read.
export function confusionFigure(name) {
  return new Figure({
    title: "Confusion matrix", wide: true, file: `${name}-confusion`,
    read: "Of the instances that were predicted to be this, the share that has each label, estimated for all of them. A question mark: not known yet.",
    columns: ["Predicted", "Label", "Share", "Interval"],
    draw: ({ labels, rows }, width) => rows.flat().some(({ value }) => value !== null) && squares({ title: "Predicted label against label", width, labels, rows: rows.map((row) => row.map((cell) => cell.value)),
      said: (i, k) => `predicted ${labels[i]}, label ${labels[k]}: ${known(rows[i][k])} (${ends(rows[i][k])})` }),
    rows: ({ labels, rows }) => rows.flatMap((row, i) => row.map((cell, k) => [labels[i], labels[k], known(cell), ends(cell)])),
  });
}

export function waitingFigure(name) {
  return new Figure({
    title: "Questions waiting", file: `${name}-waiting`, read: "Questions with a free place, by how long they have waited.",
    columns: ["Age", "Questions"],
    draw: (ages, width) => bars({ title: "Questions waiting by age", width, rows: ages.map(([text, number]) => [text, number, count(number)]) }),
    rows: (ages) => ages.map(([text, number]) => [text, count(number)]),
  });
}

export function peopleFigure(name) {
  return new Figure({
    title: "People", wide: true, file: `${name}-people`, read: "Answers of each person in all; in the numbers also how fast they are, and how many of their answers were the truth, with a 95 % interval. The truth is what a reviewer decided, or else all others who answered, or the known label of a gold question; the last column has gold questions alone.",
    columns: ["Person", "Answers", "Unsure", "Skipped", "Undone", "Time for one", "Same as others", "As decided without them", "Gold questions"],
    draw: ({ persons }, width) => (persons.length ? bars({ title: "Answers of each person", width, rows: persons.map((each) => [each.name, each.answers,
      `${count(each.answers)}${each.seconds === null ? "" : `, ${duration(each.seconds)}`}`]) }) : null),
    rows: ({ persons }) => persons.map((each) => [each.name, count(each.answers), count(each.unsure), count(each.skipped), count(each.undone),
      duration(each.seconds), each.compared ? `${percent(each.same / each.compared)} of ${count(each.compared)}` : "no other answered",
      asDecided(each.quality), asDecided(each.quality.gold)]),
  });
}

function asDecided({ same, judged, share, low, high }) {
  if (!judged) return "nothing to compare with";
  const between = `${percent(low, 0)} to ${percent(high, 0)}`;
  return share === null ? `not known yet: ${count(same)} of ${count(judged)} (${between})` : `${percent(share)} of ${count(judged)} (${between})`;
}
