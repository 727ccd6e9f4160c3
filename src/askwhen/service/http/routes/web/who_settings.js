// Who answers a stream: its team, the specialists of labels, and the terms of single people.

import { el, put, say } from "./dom.js";
import { call, streamPath } from "./api.js";
import { problem, words } from "./shell.js";

const READ = "Names of people, and of groups with an @ before them, one on each line. Groups are made on the page Tokens. Left empty, every annotator answers.";
const FIRST = "Where one of these labels is likely, these people and groups are asked first. Others get the question after so many minutes; left empty, never.";
const TERMS = "A person is asked at most so many questions in 24 hours, in an order of their own, and nothing until they are back.";
const ORDERS = [["", "as the stream"], ["oldest", "oldest first"], ["newest", "newest first"], ["valuable", "most doubtful first"], ["priority", "by priority"]];

const ofLines = (value) => value.split(/[\n,]/u).map((each) => each.trim()).filter(Boolean);

export const dayOf = (time) => {
  const day = new Date(1000 * time);
  return [day.getFullYear(), String(day.getMonth() + 1).padStart(2, "0"), String(day.getDate()).padStart(2, "0")].join("-");
};

// The beginning of a day in the time zone of the browser, in seconds.
export const timeOf = (day) => (day ? new Date(`${day}T00:00`).getTime() / 1000 : null);

export function whoSettings(stream, changed) {
  const place = el("section", { class: "card", "aria-labelledby": "who-title" });
  const [said, wrong] = [el("div", {}), el("div", {})];
  let { settings } = stream;

  const table = (title, heads, rows) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, el("table", { class: "terms" },
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: "text" }, head)))), el("tbody", {}, rows)));
  const cell = (inside) => el("td", { class: "text" }, inside);

  function person(name, terms) {
    const of = name || "a new person";
    const row = el("tr", { "data-kind": "person", "data-name": name },
      name ? el("th", { scope: "row", class: "text", dir: "auto" }, name) : cell(el("input", { name: "name", maxlength: 100, "aria-label": "Name of a new person", autocomplete: "off" })),
      cell(el("input", { name: "quota", type: "number", min: 1, max: 10000, step: 1, value: terms.quota ?? "", "aria-label": `Questions in 24 hours for ${of}` })),
      cell(el("select", { name: "order", "aria-label": `Order for ${of}` }, ORDERS.map(([value, text]) => el("option", { value, selected: value === (terms.order ?? "") }, text)))),
      cell(el("input", { name: "holiday", type: "date", value: terms.holiday ? dayOf(terms.holiday) : "", "aria-label": `First day back of ${of}` })),
      cell(el("input", { name: "paused", type: "checkbox", checked: terms.paused ?? false, "aria-label": `Pause ${of}` })));
    row.terms = terms;
    return row;
  }

  function label(name, each) {
    const labels = Array.isArray(settings.labels) ? settings.labels : null;
    const free = labels?.filter((one) => !settings.specialists[one]);
    const choice = labels ? el("select", { name: "name", "aria-label": "A label for specialists" }, ["", ...free].map((value) => el("option", { value }, value)))
      : el("input", { name: "name", maxlength: 200, "aria-label": "A label for specialists", autocomplete: "off" });
    const of = name || "the new label";
    const after = each.after === null ? "" : each.after / 60;
    return el("tr", { "data-kind": "label", "data-name": name }, name ? el("th", { scope: "row", class: "text", dir: "auto" }, name) : cell(choice),
      cell(el("input", { name: "who", value: each.who.join(", "), "aria-label": `Specialists of ${of}`, autocomplete: "off", spellcheck: "false" })),
      cell(el("input", { name: "after", type: "number", min: 0, step: "any", value: after, "aria-label": `Minutes until others are asked about ${of}` })));
  }

  const team = el("textarea", { id: "team", rows: 3, spellcheck: "false", "aria-describedby": "team-read" });
  const rows = (kind) => [...place.querySelectorAll(`tr[data-kind=${kind}]`)].map((row) => {
    const given = (name) => row.querySelector(`[name=${name}]`)?.value.trim() ?? "";
    return { row, given, name: row.dataset.name || given("name") };
  }).filter(({ name }) => name);

  function termsOf({ row, given }) {
    const { holiday } = row.terms;
    const isSame = holiday && dayOf(holiday) === given("holiday"); // a time within the day stays as it was given
    const found = { quota: given("quota") ? Number(given("quota")) : null, paused: row.querySelector("[name=paused]").checked,
      holiday: isSame ? holiday : timeOf(given("holiday")), order: given("order") || null };
    return Object.values(found).some((value) => value !== null && value !== false) ? found : null;
  }

  function specialistsOf({ given }) {
    const who = ofLines(given("who"));
    return who.length ? { who, after: given("after") === "" ? null : 60 * Number(given("after")) } : null;
  }

  // Entries without anything are removed, where there are any.
  const entries = (found, before) => Object.fromEntries(found.filter(([name, value]) => value !== null || before[name]));

  function read() {
    return { team: ofLines(team.value), people: entries(rows("person").map((each) => [each.name, termsOf(each)]), settings.people),
      ...(settings.labels === "numbers" ? {} : { specialists: entries(rows("label").map((each) => [each.name, specialistsOf(each)]), settings.specialists) }) };
  }

  const button = el("button", { type: "button", class: "main", onclick: async () => {
    const bad = place.querySelector(":invalid");
    if (bad) return bad.reportValidity();
    button.disabled = true;
    put(wrong);
    put(said);
    try {
      ({ settings } = await call("PATCH", streamPath(stream.name), { settings: read() }));
      show();
      put(said, el("p", { class: "done" }, "Who answers is saved."));
      say("Who answers is saved.");
      changed(settings);
    } catch (error) {
      put(wrong, problem(words(error)));
    } finally {
      button.disabled = false;
    }
  } }, "Save who answers");

  function show() {
    team.value = settings.team.join("\n");
    const none = { who: [], after: 3600 };
    put(place, el("h2", { id: "who-title" }, "Who answers"),
      el("div", { class: "field" }, el("label", { for: "team" }, "Team"), team, el("p", { class: "read", id: "team-read" }, READ)),
      settings.labels !== "numbers" && [el("h3", {}, "Specialists"), el("p", { class: "read" }, FIRST),
        table("Specialists", ["Label", "Who", "Minutes"], [...Object.entries(settings.specialists).map(([name, each]) => label(name, each)), label("", none)])],
      el("h3", {}, "People"), el("p", { class: "read" }, TERMS),
      table("Terms of people", ["Name", "Questions", "Order", "Back on", "Paused"], [...Object.entries(settings.people).map(([name, terms]) => person(name, terms)), person("", {})]),
      wrong, said, el("p", {}, button));
  }

  show();
  return place;
}
