// All keys, and a letter of one's own for every label.

import { el, put } from "./dom.js";
import { keepLetters, keymap, ownLetters, whyNot } from "./keys.js";

const ACTS = [["u", "Unsure: counts as your answer, but the model learns nothing"], ["s", "Skip: others answer it"],
  ["z", "Undo the last answer or skip"], ["/", "Find a label by what you type"], ["Enter", "Give the label that is found, or the model's guess where it is shown"], ["p", "Play or pause a sound"], ["?", "This window"]];
const MOST = 200;

export function help(stream, labels, changed, acts = ACTS, about = {}) {
  const letters = ownLetters(stream);
  const { shown } = keymap(labels, letters);
  const rows = labels.slice(0, MOST).map((label, i) => {
    const wrong = el("span", { class: "wrong", role: "status", id: `wrong-${i}` });
    const field = el("input", {
      maxlength: 2, size: 2, value: Object.hasOwn(letters, label) ? letters[label] : "", "aria-label": `Letter for ${label}`,
      autocapitalize: "off", autocomplete: "off", spellcheck: "false", "aria-describedby": `wrong-${i}`,
    });
    field.addEventListener("input", () => {
      const letter = field.value.trim().toLowerCase();
      const why = whyNot(letter, label, letters);
      put(wrong, why);
      field.setAttribute("aria-invalid", String(why !== ""));
      if (why) return;
      if (letter) letters[label] = letter;
      else delete letters[label];
      keepLetters(stream, letters);
      changed(); // not when the window closes: the browser says that later, and a key may come before
    });
    return el("tr", {}, el("th", { scope: "row", class: "text" }, el("bdi", {}, label), about[label] && el("p", { class: "read" }, about[label])),
      el("td", { class: "text" }, shown.get(label).map((key) => el("kbd", {}, key))), el("td", { class: "text" }, field, wrong));
  });
  const box = el("dialog", { class: "help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title" }, "Keys"),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "All keys" },
      el("dl", { class: "facts" }, acts.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])),
      el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "text" }, "Label"),
        el("th", { scope: "col", class: "text" }, "Key"), el("th", { scope: "col", class: "text" }, "Your own letter"))),
      el("tbody", {}, rows))),
    el("p", { class: "read" }, "Letters are kept in this browser, for this stream. A key within a tenth of a second of a new question is ignored."),
    el("button", { type: "button", class: "main", onclick: () => box.close() }, "Close"));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}
