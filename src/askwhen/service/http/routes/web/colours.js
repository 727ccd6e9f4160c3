// Colours of labels: those of Okabe and Ito, which colour-blind people can tell apart. A colour is never the only sign.

import { el } from "./dom.js";

export const COLOURS = ["orange", "sky", "green", "yellow", "blue", "red", "pink", "grey"];

export const swatch = (colour) => colour && el("span", { class: `swatch c-${colour}`, "aria-hidden": "true" });

// What was chosen for each label; where the labels are few, the others have the colours that are left.
export function coloursOf(labels, chosen) {
  const left = COLOURS.filter((colour) => !labels.some((label) => chosen[label] === colour));
  const few = labels.length <= COLOURS.length;
  return new Map(labels.map((label) => [label, chosen[label] ?? (few ? left.shift() ?? null : null)]));
}
