// Charts as SVG in the look of the reports: colours are classes, so that light, dark and saved pictures decide on them.

import { linked } from "./api.js";
import { el, svg } from "./dom.js";

const FONT = 12.5;
const WIDE = 7.2; // of a letter
const ROOM = { top: 20, right: 14, bottom: 40, left: 52 };

function ticks(low, high, about, least = 0) {
  const span = high - low || 1;
  const raw = span / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw && each >= least) ?? least;
  const found = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let k = first; k * step <= high + step * 1e-9; k += 1) found.push(Number((k * step).toPrecision(12)) + 0); // -0 is 0
  return found;
}

// A frame with axes: scales for both, and where to draw.
function frame(given) {
  const { width, height = 260, title, x, y } = given;
  const inner = { left: ROOM.left, right: width - ROOM.right, top: ROOM.top, bottom: height - ROOM.bottom };
  const across = (value) => inner.left + ((value - x.low) / (x.high - x.low || 1)) * (inner.right - inner.left);
  const up = (value) => inner.bottom - ((value - y.low) / (y.high - y.low || 1)) * (inner.bottom - inner.top);
  const made = svg("svg", { class: "chart", role: "img", "aria-label": title, viewBox: `0 0 ${width} ${height}`, width, height });
  const fit = ticks(x.low, x.high, (inner.right - inner.left) / 90, x.least);
  made.append(
    ...ticks(y.low, y.high, 5, y.least).flatMap((value) => [
      svg("line", { class: "grid", x1: inner.left, x2: inner.right, y1: up(value), y2: up(value) }),
      svg("text", { class: "tick", x: inner.left - 8, y: up(value) + FONT / 3, "text-anchor": "end" }, y.format(value))]),
    svg("line", { class: "axis", x1: inner.left, x2: inner.right, y1: inner.bottom, y2: inner.bottom }),
    ...fit.map((value) => svg("text", {
      class: "tick", x: across(value), y: inner.bottom + 18,
      "text-anchor": across(value) > inner.right - 22 ? "end" : across(value) < inner.left + 22 ? "start" : "middle",
    }, x.format(value))),
    svg("text", { class: "name", x: (inner.left + inner.right) / 2, y: height - 5, "text-anchor": "middle" }, x.name),
  );
  return { made, across, up, inner };
}

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
const DASHES = ["", "7 4", "2 3", "10 3 2 3"];

const MOST_HINTS = 60;
const thinned = (points) => points.filter((_, i) => i % Math.ceil(points.length / MOST_HINTS) === 0 || i === points.length - 1);

// Lines, the first with its band: series are { name, points: [[x, value, low, high, hint]] }; marks are places on the x axis.
export function lines(given) {
  const { made, across, up, inner } = frame(given);
  given.series.forEach((each, k) => { // dashes and small dots on top of what is under them: both can be seen
    const known = each.points.filter((point) => point[2] !== null && point[3] !== null);
    const band = [...known.map(([x, , low]) => [across(x), up(low)]), ...known.toReversed().map(([x, , , high]) => [across(x), up(high)])];
    const line = each.points.filter((point) => point[1] !== null).map(([x, value]) => [across(x), up(value)]);
    made.append(svg("g", { class: `s${k}` },
      k === 0 && known.length === 1 && svg("path", { class: "line", d: path(band) }),
      k === 0 && band.length > 3 && svg("path", { class: "band", d: `${path(band)}Z` }),
      line.length > 1 ? svg("path", { class: "line", d: path(line), "stroke-dasharray": DASHES[k % 4] })
        : line.map(([x, y]) => svg("circle", { class: "dot", cx: x, cy: y, r: k ? 2 : 4 })),
      thinned(known).map(([x, value, low, high, said]) => said && svg("circle", { class: "hit", cx: across(x), cy: up(value ?? (low + high) / 2), r: 8 }, svg("title", {}, said)))));
  });
  mark(made, given.marks ?? [], given.x, across, inner);
  return made;
}

// Shares that add up to one, on top of each other.
export function stack(given) {
  const { made, across, up, inner } = frame(given);
  const sums = given.points.map(() => 0);
  given.names.forEach((_, k) => {
    const below = sums.map((sum, i) => [across(given.points[i][0]), up(sum)]);
    given.points.forEach(([, shares], i) => { sums[i] += shares[k] ?? 0; });
    const above = sums.map((sum, i) => [across(given.points[i][0]), up(Math.min(sum, 1))]);
    made.append(svg("path", { class: `stack s${k % 8}`, d: `${path([...below, ...above.reverse()])}Z` }));
  });
  mark(made, given.marks ?? [], given.x, across, inner);
  return made;
}

function mark(made, places, x, across, inner) {
  for (const place of places.filter((each) => each >= x.low && each <= x.high)) {
    made.append(svg("line", { class: "switch", x1: across(place), x2: across(place), y1: inner.top, y2: inner.bottom }));
  }
}

// Points of two kinds: full ones and rings.
export function dots(given) {
  const { made, across, up } = frame(given);
  const ring = given.points.filter((point) => !point[2]);
  const full = given.points.filter((point) => point[2]);
  made.append(
    svg("g", { class: "s5" }, ring.map(([x, y, , said]) => svg("circle", { class: "thin", cx: across(x).toFixed(1), cy: up(y).toFixed(1), r: 2.5 }, said && svg("title", {}, said)))),
    svg("g", { class: "s1" }, full.map(([x, y, , said]) => svg("circle", { class: "dot", cx: across(x).toFixed(1), cy: up(y).toFixed(1), r: 3 }, said && svg("title", {}, said)))));
  return made;
}

// Bars from left to right: rows are [name, value, text, hint]. Names that do not fit beside their bars are above them.
export function bars(given) {
  const { width, title, rows } = given;
  const longest = Math.max(...rows.map(([name]) => WIDE * String(name).length), 40) + 18;
  const isAbove = longest > 0.4 * width;
  const left = isAbove ? 0 : longest;
  const high = isAbove ? 50 : 30;
  const right = Math.min(Math.max(...rows.map(([, value, shown]) => WIDE * String(shown ?? value).length)) + 12, width * 0.5);
  const most = Math.max(...rows.map(([, value]) => value), 1);
  const made = svg("svg", { class: "chart", role: "img", "aria-label": title, viewBox: `0 0 ${width} ${high * rows.length + 4}`, width, height: high * rows.length + 4 });
  rows.forEach(([name, value, shown, hint], i) => {
    const long = (Math.max(width - left - right, 10) * value) / most;
    const top = high * (i + 1) - 25; // of the bar
    made.append(svg("g", {}, svg("title", {}, hint ?? `${name}: ${shown ?? value}`),
      svg("rect", { class: "hit", x: 0, y: high * i, width, height: high }),
      isAbove ? svg("text", { class: "tick", x: 0, y: top - 6 }, cut(String(name), width))
        : svg("text", { class: "tick", x: left - 10, y: top + 15, "text-anchor": "end" }, String(name)),
      svg("g", { class: "s0" }, svg("rect", { class: "area", x: left, y: top, width: Math.max(long, value ? 2 : 0), height: 20, rx: 3 })),
      svg("text", { class: "tick", x: left + long + 8, y: top + 15 }, shown ?? String(value))));
  });
  return made;
}

const MOST_NAMED = 44;

// Columns from left to right, each of parts on top of each other: rows are [name, [[part, number]], sum].
export function columns(given) {
  const { width, title, rows } = given;
  const most = Math.max(...rows.map(([, , sum]) => sum), 1);
  const y = { low: 0, high: most, least: 1, format: (value) => value.toLocaleString("en") };
  const { made, up, inner } = frame({ width, height: 240, title, x: { low: 0, high: 1, name: "", format: () => "" }, y });
  const wide = Math.min((inner.right - inner.left) / rows.length, 64);
  const every = Math.ceil(MOST_NAMED / wide);
  rows.forEach(([name, parts, sum], i) => {
    const from = inner.left + wide * i;
    let below = 0;
    made.append(svg("g", {}, svg("title", {}, `${name}: ${parts.map(([part, number]) => `${part} ${number}`).join(", ")}`),
      parts.map(([, number], k) => {
        below += number;
        return number > 0 && svg("g", { class: `s${k % 8}` }, svg("rect", { class: "stack", x: from + wide * 0.1, y: up(below), width: wide * 0.8, height: up(below - number) - up(below) }));
      }),
      i % every === 0 && svg("text", { class: "tick", x: from + wide / 2, y: inner.bottom + 18, "text-anchor": "middle" }, name),
      wide >= 30 && svg("text", { class: "tick", x: from + wide / 2, y: up(sum) - 4, "text-anchor": "middle" }, String(sum))));
  });
  return made;
}

export const cut = (text, room) => (WIDE * text.length > room ? `${text.slice(0, Math.max(Math.floor(room / WIDE) - 1, 1))}…` : text);

// Shares as squares: rows are what was predicted, columns what was right.
export function squares(given) {
  const { width, title, labels, rows, said = () => null } = given;
  const left = Math.min(150, width * 0.3);
  const side = Math.min((width - left) / labels.length, 92);
  const high = Math.min(side, 46);
  const height = 56 + high * labels.length;
  const made = svg("svg", { class: "chart", role: "img", "aria-label": title, viewBox: `0 0 ${width} ${height}`, width, height });
  made.append(svg("text", { class: "name", x: left, y: 14 }, "the label"));
  labels.forEach((label, k) => made.append(
    svg("text", { class: "tick", x: left + side * (k + 0.5), y: 38, "text-anchor": "middle" }, cut(label, side - 4)),
    svg("text", { class: "tick", x: left - 10, y: 48 + high * (k + 0.5) + 4, "text-anchor": "end" }, cut(label, left - 14))));
  rows.forEach((row, i) => row.forEach((share, k) => {
    made.append(svg("g", { class: "s0" }, svg("title", {}, said(i, k)), svg("rect", {
      class: "area", x: left + side * k + 1, y: 48 + high * i + 1, width: side - 2, height: high - 2, rx: 3, "fill-opacity": (0.04 + 0.3 * (share ?? 0)).toFixed(3),
    })));
    if (side > 34) {
      made.append(svg("text", { class: "tick strong", x: left + side * (k + 0.5), y: 48 + high * (i + 0.5) + 4, "text-anchor": "middle" },
        share === null ? "?" : `${Math.round(100 * share)} %`));
    }
  }));
  return made;
}

export function legend(names, { rings = false } = {}) {
  const swatch = (k) => svg("svg", { class: `swatch s${k % 8}`, width: 26, height: 12, "aria-hidden": "true" },
    rings ? svg("circle", { class: k === 1 ? "dot" : "thin", cx: 13, cy: 6, r: 4 })
      : svg("path", { class: "line", d: "M1 6H25", "stroke-dasharray": DASHES[k % 4] }));
  return el("ul", { class: "legend" }, names.map(([name, k]) => el("li", {}, swatch(k), name)));
}

export function blocks(names) {
  return el("ul", { class: "legend" }, names.map((name, k) => el("li", {},
    svg("svg", { class: `swatch s${k % 8}`, width: 14, height: 14, "aria-hidden": "true" }, svg("rect", { class: "area", width: 14, height: 14, rx: 3 })), name)));
}

// A picture on its own, with its colours inside.
export async function save(picture, name) {
  const rules = await (await fetch(linked("/page/picture.css"))).text();
  const copy = picture.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.prepend(svg("style", {}, rules));
  const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  el("a", { href: address, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
