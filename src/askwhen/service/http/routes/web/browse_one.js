// One instance in a window: what was shown, its history, and what can be done about it.

import { el, percent, put, say } from "./dom.js";
import { call, may, streamPath, who } from "./api.js";
import { problem, words } from "./shell.js";
import { saying } from "./advice.js";
import { instance } from "./instance.js";
import { guessed, inText, labelField } from "./label_field.js";

const SAID = {
  instance: "decided", answered: "answered", undone: "took the answer back", disputed: "the answers do not decide", reviewed: "decided as a reviewer",
  "review undone": "took the decision back", reserved: "reserved the question", unreserved: "let everyone answer again", told: "the model learnt the label", forgotten: "the question was dropped", corrected: "the label was corrected",
  volunteered: "gave a label unasked", advised: "advice came late", commented: "commented", flagged: "flagged it", unflagged: "took the flag away", skipped: "skipped", unskipped: "took the skip back",
};

// changed(row) is called with the new row after each change, and with null where the instance is gone.
export async function opened(stream, settings, item, changed) {
  const inside = el("div", {});
  const wrong = el("div", {});
  const box = el("dialog", { class: "one", "aria-labelledby": "one-title", onclose: () => box.remove() },
    el("div", { class: "head" }, el("h2", { id: "one-title" }, "Instance"), el("button", { type: "button", class: "quiet", onclick: () => box.close() }, "Close")), inside, wrong);

  async function show() {
    const found = await call("GET", streamPath(stream, `/instance?item=${item}`));
    put(inside, build(found));
    return found.instance;
  }

  async function act(method, path, body, done) {
    put(wrong);
    try {
      await call(method, streamPath(stream, path), typeof body === "function" ? body() : body);
      if (path === "/withdraw") {
        box.close();
        changed(null);
      } else changed(await show());
      say(done);
    } catch (error) {
      put(wrong, problem(words(error)));
    }
  }

  function build({ instance: each, history, advice }) {
    return [el("section", { class: "question", "aria-label": "What was shown" }, instance(each, settings.view)),
      el("dl", { class: "facts" }, facts(each), advice.length > 0 && [el("dt", {}, "Advisers"), el("dd", {}, saying(advice))]),
      each.round === null ? waiting(each) : actions(each),
      history.length > 0 && [el("h3", {}, "History"), el("ol", { class: "history" }, history.map(line))]];
  }

  function actions(each) {
    const label = labelField("new-label", settings, each.label);
    const only = el("input", { id: "only", autocomplete: "off", spellcheck: "false", "aria-describedby": "only-read" });
    const comment = el("textarea", { id: "new-comment", rows: 2, maxlength: 2000 });
    const { round } = each;
    return [!each.erased && el("div", { class: "field" }, el("label", { for: "new-label" }, each.label === null ? "Give it a label" : "Correct the label"),
      el("div", { class: "row" }, label.element, el("button", { type: "button", class: "main", onclick: () => act("POST", "/correct", () => who({ round, label: label.read() }), "Labelled.") }, "Set label"),
        each.label !== null && el("button", { type: "button", onclick: () => act("POST", "/correct", who({ round, label: null }), "Without a label now.") }, "No label"))),
      each.state === "open" && el("div", { class: "field" }, el("label", { for: "only" }, "Reserve the question for"),
        el("div", { class: "row" }, only, el("button", { type: "button", onclick: () => act("POST", `/questions/${round}/reserve`, () => who({ who: namesIn(only.value) }), "Saved.") }, "Reserve")),
        el("p", { class: "read", id: "only-read" }, "Names with commas between them, those of groups with an @; left empty, everyone may answer again.")),
      !each.erased && el("div", { class: "field" }, el("label", { for: "new-comment" }, "Comment"), comment,
        el("div", { class: "row under" }, el("button", { type: "button", onclick: () => act("POST", `/questions/${round}/comments`, who({ text: comment.value }), "Commented.") }, "Add the comment"),
          each.label !== null && el("button", { type: "button", onclick: () => act("POST", "/gold", { questions: [{ round }] }, "A gold question now.") }, "Use as a gold question"),
          el("button", { type: "button", onclick: () => act("POST", "/flag", who({ round, flagged: !each.flagged }), each.flagged ? "Not flagged any more." : "Flagged.") }, each.flagged ? "Take the flag away" : "Flag it")))];
  }

  function waiting(each) {
    return el("p", { class: "read" }, "It waits in the backlog for its decision. ",
      may("producer") && el("button", { type: "button", class: "small", onclick: () => act("POST", "/withdraw", { places: [-each.item] }, "Withdrawn.") }, "Withdraw it"));
  }

  await show();
  document.body.append(box);
  box.showModal();
}

const namesIn = (value) => value.split(",").map((each) => each.trim()).filter(Boolean);

function facts(each) {
  const sure = (label, certainty) => (label === null ? null : certainty === null ? guessed(label) : `${guessed(label)}, ${percent(certainty)} certain`);
  const rows = [["Id", each.id], ["Label", each.label === null ? null : inText(each.label)], ["Predicted", sure(each.prediction, each.certainty)], ["Today's model", sure(each.prediction_now, each.certainty_now)],
    ["Source", each.source], ["Time", new Date(1000 * each.time).toLocaleString()]];
  return rows.filter(([, value]) => value !== null).map(([title, value]) => [el("dt", {}, title), el("dd", {}, el("bdi", {}, value))]);
}

function line({ kind, time, by, label, text }) {
  return el("li", {}, el("span", { class: "read" }, `${new Date(1000 * time).toLocaleString()} `), by && [el("b", {}, by), " "], SAID[kind] ?? kind,
    label !== null && label !== undefined && [": ", el("bdi", {}, kind === "instance" ? guessed(label) : inText(label))], text && [": ", el("span", { dir: "auto" }, text)]);
}
