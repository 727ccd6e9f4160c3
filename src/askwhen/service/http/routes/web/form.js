// A stream by a form that says what each choice means, with the exact call of the API beside it.

import { el, put } from "./dom.js";
import { call, linked, need, streamPath } from "./api.js";
import { page } from "./shell.js";
import { advising, asCall, asking, besideCall, budgeting, callPlace, checkPattern, choices, differing, fillAdvisers, fillAsking, fillBudget, hide, number, readAdvisers, readAsking, readBudget, sayWrong, text, unfold } from "./fields.js";

const FEATURES = [["text", "Text", "a string; its words are hashed"], ["numbers", "Numbers", "an array, or an object with a number for each name"],
  ["hashed", "Features by name", "an object of numbers, words and truth values, each a feature by its name"],
  ["mixed", "Text and numbers", "an object: words of some fields, numbers of others"],
  ["columns", "Named columns", "an object: numbers, dates, categories, texts and vectors by name"]];
const ANSWERS = [["one", "One label", "of those that you list"], ["several", "Several labels at once", "any number of them may apply, or none"],
  ["open", "Open labels", "people type them, and each new one opens a class"], ["numbers", "A number", "such as a price, a length or a score"]];
const SCHEMA = '{"price": "number", "city": "category", "note": "text"}';
const USUAL = { slots: 1, overlap: 0.05, gold: 0.05, decide: "majority", order: "oldest", lease: 300, grace: 20, forget: null, erase: null, guess: false, advice: false, repeats: true,
  mode: "live", backlog: { questions: null, shuffle: false },
  view: { kind: "auto", highlight: "", direction: "auto", media: [], blind: false, review: 0.1 } };

let others = {}; // settings of the stream that this one is to be like, which the form does not show

page(async (main) => {
  need("admin");
  const like = new URLSearchParams(location.search).get("like");
  const model = like ? await call("GET", streamPath(like)) : null;
  const call_ = callPlace();
  const wrong = el("div", {});
  const form = el("form", { class: "card" }, fields(), wrong, el("button", { class: "main" }, "Make the stream"));
  const show = () => put(call_, asCall("POST", "/v1/streams", read(form)));
  form.addEventListener("input", () => { hide(form); show(); });
  unfold(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      checkPattern(form.elements.highlight.value);
      const made = await call("POST", "/v1/streams", read(form));
      location.assign(linked(`/import/${encodeURIComponent(made.name)}`));
    } catch (error) {
      sayWrong(form, wrong, error);
    }
  });
  if (model) fill(form, model);
  put(main, el("div", { class: "head" }, el("h1", {}, model ? `New stream like ${model.name}` : "New stream")),
    besideCall(form, call_, "This is what the button sends."));
  hide(form);
  show();
  if (matchMedia("(hover:hover)").matches) form.elements.name.focus();
});

function fields() {
  return [
    text("name", "Name", "Letters, digits, dots, dashes and underscores: it stands in addresses.", { required: true, maxlength: 100 }),
    choices("answers", "What people say about an instance", ANSWERS, "one"),
    text("labels", "Labels", "One on each line, in the order of the keys 1, 2, 3 …", { rows: 4, value: "no\nyes", for: "answers=one,several" }),
    number("within", "How far a prediction may be off", "So that it counts as right, and so that two people agree.", "1", { min: 0, for: "answers=numbers" }),
    text("bounds", "Smallest and largest number", "With a comma between them; left empty, any number.", { for: "answers=numbers" }),
    choices("features", "What an instance is", FEATURES, "text"),
    text("names", "Names of the numbers", "With commas between them; left empty, an array of numbers.", { for: "features=numbers,mixed" }),
    text("texts", "Names of the texts", "With commas between them.", { for: "features=mixed" }),
    text("schema", "Schema", 'What each column is: "number", "date", "category", "text", or {"category": ["Rome", "Oslo"]}, {"vector": 384}.',
      { rows: 4, value: SCHEMA, for: "features=columns" }),
    advising(),
    budgeting(),
    asking(),
  ];
}

const list = (value) => value.split(/[,\n]/u).map((each) => each.trim()).filter(Boolean);

// A schema as JSON; the service says what is wrong with anything else.
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { [text.slice(0, 60)]: "not JSON" };
  }
}

const ofLines = (value) => value.split("\n").map((each) => each.trim()).filter(Boolean);

// The choices of another stream.
function fill(form, { name, settings }) {
  const set = (field, value) => { form.elements[field].value = value ?? ""; };
  const { labels, features, budget, algorithm, letters, raw } = settings;
  set("name", `${name}-2`);
  set("answers", Array.isArray(labels) ? (settings.several ? "several" : "one") : labels);
  if (Array.isArray(labels)) set("labels", labels.join("\n"));
  if (settings.within) set("within", settings.within);
  set("bounds", (settings.bounds ?? []).join(", "));
  set("features", features.kind);
  set("names", (features.names ?? []).join(", "));
  set("texts", features.text.join(", "));
  if (features.schema) set("schema", JSON.stringify(features.schema));
  fillAdvisers(form, settings.advisers);
  fillBudget(form, budget);
  fillAsking(form, settings);
  others = { places: features.places, budget: budget && (budget.most || budget.errors) ? budget : null, settings: {} };
  if (algorithm !== "default") others.settings.algorithm = algorithm;
  if (Object.keys(letters).length) others.settings.letters = letters;
  if (raw) others.settings.raw = true;
  for (const field of ["about", "colours"]) if (Object.keys(settings[field]).length) others.settings[field] = settings[field];
  if (settings.guidelines) others.settings.guidelines = settings.guidelines;
}

// What people say.
function answered(given) {
  const kind = given("answers");
  if (kind === "open") return { labels: "open" };
  if (kind !== "numbers") return { ...(kind === "several" ? { several: true } : {}), labels: ofLines(given("labels")) };
  const bounds = list(given("bounds")).map(Number);
  return { labels: "numbers", within: Number(given("within")), ...(bounds.length ? { bounds } : {}) };
}

// What is sent: everything that differs from what the service would take anyway.
function read(form) {
  const given = (name) => form.elements[name].value;
  const settings = { ...answered(given), features: { kind: given("features") }, ...others.settings };
  if (others.places && given("features") !== "numbers") settings.features.places = others.places;
  if (["numbers", "mixed"].includes(given("features")) && given("names").trim()) settings.features.names = list(given("names"));
  if (given("features") === "mixed") settings.features.text = list(given("texts"));
  if (given("features") === "columns") settings.features.schema = parsed(given("schema"));
  const advisers = readAdvisers(form);
  if (advisers !== null) settings.advisers = advisers;
  const budget = readBudget(form, others.budget);
  if (budget) settings.budget = Object.fromEntries(Object.entries(budget).filter(([, each]) => each !== null));
  return { name: given("name").trim(), settings: { ...settings, ...differing(readAsking(form), USUAL) } };
}
