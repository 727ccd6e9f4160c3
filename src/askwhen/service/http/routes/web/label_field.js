// What labels are in a stream, how they are written, and a field for one label outside the page of questions.

import { el } from "./dom.js";

// The labels that are known beforehand; none where they are open, or numbers.
export const namesOf = ({ labels }) => (Array.isArray(labels) ? labels : []);
export const isNumber = ({ labels }) => labels === "numbers";

// A label, or several, as a text; predictions that are numbers with fewer digits.
export function inText(label, digits = 12) {
  if (Array.isArray(label)) return label.join(", ") || "none of them";
  return typeof label === "number" ? String(Number(label.toPrecision(digits))) : label ?? "unsure";
}

// A label may go on in the next line after a sign that joins its words, and never inside a word.
export const pieces = (label) => label.split(/(?<=[_\-./:])(?=[^\s_\-./:])/u).flatMap((piece, i) => (i ? [el("wbr"), piece] : [piece]));

export const guessed = (label) => inText(label, 4);

// Whether a prediction counts as right.
export const isRight = (settings, prediction, label) => (isNumber(settings) ? Math.abs(prediction - label) <= settings.within : inText(prediction) === inText(label));

// A number as people write it: null where it is not one, or lies beyond the bounds.
export function numberIn(text, { bounds }) {
  const plain = text.trim().replace(/^[^.,]*,[^.,]*$/u, (found) => found.replace(",", "."));
  const found = plain === "" ? NaN : Number(plain);
  return Number.isFinite(found) && (!bounds || (found >= bounds[0] && found <= bounds[1])) ? found : null;
}

export const numberWanted = ({ bounds }) => (bounds ? `Give a number from ${bounds[0]} to ${bounds[1]}.` : "Give a number.");

// A field with the id, and what it holds; what is wrong is an error.
export function labelField(id, settings, value) {
  if (settings.several) {
    const ticks = settings.labels.map((label, i) => el("label", { class: "choice" }, el("input", { type: "checkbox", id: i ? null : id, value: label, checked: value?.includes(label) ?? false }), el("span", { dir: "auto" }, label)));
    return { element: el("div", { class: "ticks", role: "group", "aria-label": "Labels" }, ticks), read: () => ticks.map((each) => each.querySelector("input")).filter((each) => each.checked).map((each) => each.value).sort() };
  }
  if (Array.isArray(settings.labels)) {
    const choice = el("select", { id }, settings.labels.map((text) => el("option", { value: text, selected: text === value }, text)));
    return { element: choice, read: () => choice.value };
  }
  const field = el("input", { id, value: value ?? "", maxlength: 200, inputmode: isNumber(settings) ? "decimal" : null });
  const read = () => {
    if (!isNumber(settings)) return field.value.trim();
    const number = numberIn(field.value, settings);
    if (number === null) throw new Error(numberWanted(settings));
    return number;
  };
  return { element: field, read };
}
