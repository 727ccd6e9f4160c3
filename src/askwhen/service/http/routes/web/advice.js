// What advisers say of an instance.

import { el, percent } from "./dom.js";

// In a line, one after the other.
export const saying = (advice) => advice.map(({ adviser, label, confidence, late }, i) => [i > 0 && " · ", el("bdi", {}, adviser), ": ",
  el("strong", { dir: "auto" }, label), confidence !== undefined && ` ${percent(confidence, 0)}`, late && " (late)"]);

// Beside a question, where the stream shows it before the answer.
export const beside = (advice) => advice.length > 0 && el("p", { class: "advice", "aria-label": "What advisers say" }, saying(advice));

export const inWords = (advice) => advice.map(({ adviser, label }) => ` ${adviser} says ${label}.`).join("");
