// The advisers of a stream: how often each is right, with the interval that holds the true share, and who has become worse.

import { count, percent, plural, svg } from "./dom.js";
import { cut } from "./charts.js";
import { Figure } from "./figures.js";
import { ends, known } from "./plain.js";

const [HIGH, MORE] = [46, 20]; // of a row, and where an adviser has become worse
const STEP = 0.1; // between two upright lines
const WIDE = 7.2; // of a letter

const day = (time) => new Date(1000 * time).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
const fell = ({ fell: found }) => found && `became worse: below ${percent(found.level, 0)}, seen ${day(found.time)}`;

export function adviserFigure(name) {
  const signed = (share) => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
  const better = ({ gain }) => (gain.value === null ? "unknown" : signed(gain.value));
  const compared = ({ against }, best) => {
    const found = against[best];
    return !found || found.value === null ? "" : `${signed(found.value)} (${signed(found.low)} to ${signed(found.high)})`;
  };
  return new Figure({
    title: "Advisers", wide: true, file: `${name}-advisers`,
    read: "How often each adviser is right, of the instances on which it said something: the best first. The band holds the true share, with 95 % confidence at every moment; the line below it that of the last instances only. In the numbers: as how many random labels it is as well known, what the stream gains over it, and how it compares with the best, where both said something.",
    columns: ["Adviser", "Right", "Interval", "Lately", "Interval", "Instances", "Silent", "Random labels", "Gain", "Against the best", "Worse"],
    draw: (advisers, width) => (advisers.length ? bars(advisers, width) : null),
    rows: (advisers) => advisers.map((each) => [each.name, known(each.overall), ends(each.overall), known(each.recent), ends(each.recent), count(each.rounds), percent(each.silent),
      each.random_labels === null ? "unknown" : count(each.random_labels), better(each), compared(each, advisers[0].name), fell(each) || "no"]),
  });
}

// Who may know the labels.
export const note = (advisers) => advisers.map(({ warning }) => warning).filter(Boolean).join(" ");

// A row for each adviser, with its name above its band, and one axis for all.
function bars(advisers, width) {
  const estimates = advisers.flatMap(({ overall, recent }) => [overall, recent]).filter(({ value }) => value !== null);
  const least = Math.max(Math.floor(10 * Math.min(0.5, ...estimates.map(({ low }) => low))) / 10, 0);
  const [left, right] = [8, width - 14];
  const across = (share) => left + ((Math.max(share, least) - least) / (1 - least)) * (right - left);
  const tops = advisers.map((_, i) => advisers.slice(0, i).reduce((sum, each) => sum + HIGH + (each.fell ? MORE : 0), 0));
  const bottom = tops.at(-1) + HIGH + (advisers.at(-1).fell ? MORE : 0);
  const made = svg("svg", { class: "chart", role: "img", "aria-label": "Share of right answers of each adviser", viewBox: `0 0 ${width} ${bottom + 24}`, width, height: bottom + 24 });
  const every = (1 - least) / STEP > width / 70 ? 2 * STEP : STEP;
  for (let share = 1; share > least - 1e-9; share -= every) {
    made.append(svg("line", { class: "grid", x1: across(share), x2: across(share), y1: 0, y2: bottom }),
      svg("text", { class: "tick", x: across(share), y: bottom + 18, "text-anchor": share === 1 ? "end" : across(share) < left + 20 ? "start" : "middle" }, `${Math.round(100 * share)} %`));
  }
  advisers.forEach((each, i) => made.append(row(each, tops[i], width, across)));
  return made;
}

function row(each, top, width, across) {
  const { name, overall, recent, random_labels: labels, warning } = each;
  const isKnown = overall.value !== null;
  const long = `${name}: ${known(overall)} (${isKnown ? ends(overall) : overall.why_unknown})`;
  const asGood = labels === null ? "" : `as good as ${plural(labels, "random label")}`;
  const fitting = [asGood && `${long}; ${asGood}`, long].find((some) => some && WIDE * some.length < width - 16);
  const text = fitting ?? `${name}: ${known(overall)}`;
  const hint = [long, asGood, fell(each), warning];
  return svg("g", {}, svg("title", {}, hint.filter(Boolean).join("; ")), svg("rect", { class: "hit", x: 0, y: top, width, height: HIGH }),
    svg("text", { class: "tick", x: 8, y: top + 15 }, cut(text, width - 16)),
    isKnown && svg("g", { class: "s0" }, svg("rect", { class: "band", x: across(overall.low), y: top + 21, width: Math.max(across(overall.high) - across(overall.low), 2), height: 12, rx: 3 }),
      svg("circle", { class: "dot", cx: across(overall.value), cy: top + 27, r: 5 })),
    recent.value !== null && svg("g", { class: "s1" }, svg("path", { class: "line", d: `M${across(recent.low).toFixed(1)} ${top + 37}H${across(recent.high).toFixed(1)}` })),
    each.fell && svg("text", { class: "tick", x: 8, y: top + HIGH + 8 }, cut(fell(each), width - 16)));
}
