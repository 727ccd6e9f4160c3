// All instances as a table: search in what was shown, filters, sorting; one instance opens in a window.

import { count, el, percent, plural, put, say } from "./dom.js";
import { call, need, streamFacts, streamHere, streamPath } from "./api.js";
import { page, problem, words } from "./shell.js";
import { select, text, tick } from "./fields.js";
import { summary } from "./instance.js";
import { guessed, inText, isNumber, isRight, pieces } from "./label_field.js";
import { opened } from "./browse_one.js";

const ANY = ["", "any"];
const STATES = { labelled: "labelled", predicted: "predicted only", open: "open question", disputed: "disputed", dropped: "dropped", waiting: "in the backlog" };
const SORTS = [["newest", "Newest first"], ["oldest", "Oldest first"], ["uncertain", "Least certain first"], ["certain", "Most certain first"]];
const COLUMNS = ["Shown", "Label", "Predicted", "Now", "State"];
const PATIENCE = 600000; // for all predictions of a large stream
const name = streamHere();
let facts, places, next;
let asked = 0; // the number of the last search: replies to earlier ones are not shown

page(async (main) => {
  need("reviewer");
  facts = await streamFacts();
  const labels = Array.isArray(facts.settings.labels) && !facts.settings.several ? facts.settings.labels : null;
  const ofLabels = (id, title) => (labels ? select(id, title, [ANY, ...labels.map((label) => [label, label])]) : text(id, title, "Exactly as it is written."));
  places = {
    form: el("form", { class: "card filters", role: "search" },
      el("div", { class: "row fields" },
        text("search", "Search in what was shown", "Whole words, or an id.", { type: "search", maxlength: 500 }),
        select("status", "State", [ANY, ...Object.entries(STATES)]), select("sort", "Order", SORTS)),
      el("details", {}, el("summary", {}, "More filters"),
        el("div", { class: "row fields" }, ofLabels("label", "Label"), !isNumber(facts.settings) && ofLabels("prediction", "Predicted"),
          text("person", "Person", "Who gave a label."), text("source", "Source", "Such as the name of an import.")),
        el("div", { class: "row fields" }, text("since", "From day", "Of the decision.", { type: "date" }), text("until", "To day", "This day included.", { type: "date" }),
          !isNumber(facts.settings) && text("least", "Certainty from", "Between 0 and 1.", { type: "number", min: 0, max: 1, step: "any" }), !isNumber(facts.settings) && text("most", "Certainty to", "Between 0 and 1.", { type: "number", min: 0, max: 1, step: "any" })),
        tick("flagged", "Flagged", "only those with a flag"), !isNumber(facts.settings) && tick("changed", "Predicted otherwise now", "since everything was predicted again")),
      el("div", { class: "row" }, el("button", { class: "main" }, "Search"), el("button", { type: "reset" }, "Clear"))),
    said: el("p", { class: "read", role: "status" }),
    wrong: el("div", {}),
    rows: el("tbody", {}),
    more: el("button", { type: "button", hidden: true, onclick: () => more() }, "Show more"),
    again: el("button", { type: "button", onclick: () => predictAgain() }, "Predict again"),
  };
  places.form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
  places.form.addEventListener("reset", () => setTimeout(search));
  places.form.addEventListener("change", search);
  fromAddress();
  put(main, el("div", { class: "head" }, el("h1", {}, name), places.again), places.form, places.wrong, places.said,
    el("section", { class: "card", "aria-label": "Instances" }, el("table", { class: "browse" },
      el("thead", {}, el("tr", {}, COLUMNS.map((title) => el("th", { scope: "col", class: "text" }, title)))), places.rows), places.more));
  await search();
});

// What is searched, as parameters of the call; days are those of this browser.
function parameters() {
  const found = new URLSearchParams();
  for (const field of ["search", "status", "label", "prediction", "person", "source", "least", "most", "sort"]) {
    const value = places.form.elements[field]?.value.trim();
    if (value) found.set(field, value);
  }
  for (const field of ["flagged", "changed"]) if (places.form.elements[field]?.checked) found.set(field, "true");
  const at = (field, more) => {
    const day = places.form.elements[field].value;
    if (day) found.set(field, new Date(`${day}T00:00`).getTime() / 1000 + more);
  };
  at("since", 0);
  at("until", 86400);
  return found;
}

// The address has the search, so that it can be kept and sent to others.
function fromAddress() {
  for (const [field, value] of new URLSearchParams(location.search)) {
    const found = places.form.elements[field];
    if (!found) continue;
    if (found.type === "checkbox") found.checked = value === "true";
    else found.value = ["since", "until"].includes(field) ? dayOf(field, Number(value)) : value;
    found.closest("details")?.setAttribute("open", "");
  }
}

const dayOf = (field, seconds) => {
  const day = new Date(1000 * (seconds - (field === "until" ? 86400 : 0)));
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;
};

async function search() {
  const given = parameters();
  history.replaceState(null, "", `${location.pathname}${given.size ? `?${given}` : ""}`);
  await load(given, true);
}

async function more() {
  const given = parameters();
  given.set("after", next);
  await load(given, false);
}

async function load(given, isFirst) {
  const number = (asked += 1);
  if (!places.rows.firstChild) put(places.said, "Looking …");
  try {
    const found = await call("GET", streamPath(name, `/instances?${given}`), undefined, { timeout: 60000 });
    if (number !== asked) return;
    put(places.wrong);
    next = found.next;
    places.more.hidden = !next;
    if (isFirst) put(places.rows);
    places.rows.append(...found.rows.map(row));
    const shown = places.rows.childElementCount;
    put(places.said, found.left ? `The table is being made: ${count(found.left)} events are left.` : shown ? `${plural(shown, "instance")} shown${next ? "; there are more" : ""}.` : "No instance is like this.");
    if (found.left && isFirst) await load(given, isFirst);
  } catch (error) {
    if (number === asked) put(places.wrong, problem(words(error)));
  }
}

const cell = (title, ...inside) => el("td", { class: "text", "data-title": title }, inside);
const isSame = (each) => (isNumber(facts.settings) ? isRight(facts.settings, each.prediction_now, each.prediction) : String(each.prediction_now) === String(each.prediction));
const guess = (label, certainty) => (label === null ? "" : [el("bdi", {}, pieces(guessed(label))), certainty !== null && el("span", { class: "read sure" }, ` ${percent(certainty, 0)}`)]);

function row(each) {
  const found = el("tr", {},
    cell(COLUMNS[0], el("button", { type: "button", class: "quiet open", dir: "auto", onclick: () => show(each.item, found) }, summary(each)), each.id && el("span", { class: "read" }, ` ${each.id}`)),
    cell(COLUMNS[1], each.label === null ? "" : el("strong", {}, el("bdi", {}, pieces(inText(each.label))))),
    cell(COLUMNS[2], guess(each.prediction, each.certainty)),
    cell(COLUMNS[3], each.prediction !== null && each.prediction_now !== null && !isSame(each)
      ? el("span", { class: "changed" }, guess(each.prediction_now, each.certainty_now)) : guess(each.prediction_now, each.certainty_now)),
    cell(COLUMNS[4], STATES[each.state] ?? each.state, each.flagged && el("span", { class: "tag" }, "flagged"), each.comments > 0 && el("span", { class: "tag" }, plural(each.comments, "comment"))));
  return found;
}

// One instance; its row is changed with it, and goes where it is withdrawn.
async function show(item, place) {
  try {
    await opened(name, facts.settings, item, (changed) => {
      if (!changed) place.remove();
      else {
        const fresh = row(changed);
        place.replaceWith(fresh);
        place = fresh;
      }
    });
  } catch (error) {
    put(places.wrong, problem(words(error)));
  }
}

async function predictAgain() {
  places.again.disabled = true;
  put(places.said, "Predicting every instance again …");
  try {
    const found = await call("POST", streamPath(name, "/predict"), undefined, { timeout: PATIENCE });
    await search();
    const text_ = `${plural(found.instances, "instance")} predicted again; ${found.changed === 1 ? "1 is" : `${count(found.changed)} are`} predicted otherwise than when decided.`;
    put(places.said, text_);
    say(text_);
  } catch (error) {
    put(places.wrong, problem(words(error)));
  } finally {
    places.again.disabled = false;
  }
}
