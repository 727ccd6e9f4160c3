// Windows beside a question: the guidelines of the stream, and a comment for reviewers.

import { el, put, say, uuid } from "./dom.js";
import { call, streamPath, who } from "./api.js";
import { problem, words } from "./shell.js";
import { rendered } from "./guidelines.js";

function windowed(kind, title, ...inside) {
  const box = el("dialog", { class: kind, "aria-labelledby": `${kind}-title` }, el("h2", { id: `${kind}-title` }, title), inside);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

export function showGuidelines(text) {
  const box = windowed("guide", "Guidelines", el("div", { class: "guidelines scroll", tabindex: 0, role: "region", "aria-label": "Guidelines" }, rendered(text)),
    el("button", { type: "button", class: "main", onclick: () => box.close() }, "Close"));
}

// A comment on a question; done(text) once it is stored.
export function commentOn(stream, question, done) {
  const [given, wrong, key] = [el("textarea", { id: "comment", rows: 4, maxlength: 2000, required: true }), el("div", {}), uuid()];
  const send = el("button", { class: "main" }, "Send");
  const box = windowed("comment", "Comment", el("form", { onsubmit: async (event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      const text = given.value.trim();
      await call("POST", streamPath(stream, `/questions/${question}/comments`), who({ text, key }));
      box.close();
      say("The comment is stored.");
      done(text);
    } catch (error) {
      put(wrong, problem(words(error)));
    } finally {
      send.disabled = false;
    }
  } }, el("div", { class: "field" }, el("label", { for: "comment" }, "For reviewers, about this question"), given), wrong,
  el("div", { class: "row" }, send, el("button", { type: "button", onclick: () => box.close() }, "Cancel"))));
  given.focus();
}
