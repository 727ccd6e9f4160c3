// Colours of labels: those of Okabe and Ito, which colour-blind people can tell apart. A colour is never the only sign.

import { el } from "./dom.js";

export const COLOURS = ["orange", "sky", "green", "yellow", "blue", "red", "pink", "grey"];

export const swatch = (colour) => colour && el("span", { class: `swatch c-${colour}`, "aria-hidden": "true" });

// What was chosen for each label; where nothing was and the labels are few, one for each.
export function coloursOf(labels, chosen) {
  const few = !Object.keys(chosen).length && labels.length <= COLOURS.length;
  return new Map(labels.map((label, i) => [label, few ? COLOURS[i] : chosen[label] ?? null]));
}
