// A stream by a form that says what each choice means, with the exact call of the API beside it.

import { el, put } from "./dom.js";
import { call, streamPath } from "./api.js";
import { page, problem, words } from "./shell.js";
import { FLAGS } from "./instance.js";

const FEATURES = [["text", "Text", "a string; its words are hashed"], ["numbers", "Numbers", "an array, or an object with a number for each name"],
  ["hashed", "Features by name", "an object of numbers, words and truth values, each a feature by its name"],
  ["mixed", "Text and numbers", "an object: words of some fields, numbers of others"]];
const BUDGETS = [["none", "As the rule finds best", "no limit is set"], ["rate", "A share of the instances", "so that costs follow the traffic"],
  ["time", "So many in a period", "so that people have the same work every day"]];
const DECIDE = [["majority", "Majority", "more than half say the same; otherwise a reviewer decides"],
  ["unanimity", "Unanimity", "all say the same; otherwise a reviewer decides"], ["adjudicator", "Always a reviewer", "whatever the answers say"]];
const ORDERS = [["oldest", "Oldest first", "nobody waits longest"], ["valuable", "Most doubtful first", "what the model learns most from"],
  ["priority", "By priority", "the number that came with the instance"]];
const KINDS = [["auto", "Found from what is shown"], ["text", "Text"], ["code", "Code"], ["table", "Table"], ["image", "Image by address"],
  ["audio", "Sound by address"], ["json", "JSON"]];

let others = {}; // settings of the stream that this one is to be like, which the form does not show

page(async (main) => {
  const like = new URLSearchParams(location.search).get("like");
  const model = like ? await call("GET", streamPath(like)) : null;
  const call_ = el("pre", { tabindex: 0, role: "region", "aria-label": "The call of the API" });
  const wrong = el("div", {});
  const form = el("form", { class: "card" }, fields(), wrong, el("button", { class: "main" }, "Make the stream"));
  const show = () => put(call_, asCall(read(form)));
  form.addEventListener("input", () => { hide(form); show(); });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      checkPattern(form.elements.highlight.value);
      const made = await call("POST", "/v1/streams", read(form));
      location.assign(`/import/${encodeURIComponent(made.name)}`);
    } catch (error) {
      put(wrong, problem(words(error)));
    }
  });
  if (model) fill(form, model);
  put(main, el("div", { class: "head" }, el("h1", {}, model ? `New stream like ${model.name}` : "New stream")), el("div", { class: "two" }, form,
    el("aside", { class: "card beside", "aria-labelledby": "call-title" }, el("h2", { id: "call-title" }, "The same for a program"),
      el("p", { class: "read" }, "This is what the button sends."), call_)));
  hide(form);
  show();
  if (matchMedia("(hover:hover)").matches) form.elements.name.focus();
});

const text = (name, label, read_, more = {}) => el("div", { class: "field", "data-for": more.for ?? null }, el("label", { for: name }, label),
  el(more.rows ? "textarea" : "input", { id: name, name, type: more.rows ? null : "text", autocomplete: "off", spellcheck: "false", "aria-describedby": `${name}-read`, ...more, for: null }),
  el("p", { class: "read", id: `${name}-read` }, read_));

const number = (name, label, read_, value, more = {}) => text(name, label, read_, { type: "number", step: "any", value, ...more });

const choices = (name, legend, options, chosen) => el("fieldset", {}, el("legend", {}, legend), options.map(([value, title, read_]) =>
  el("label", { class: "choice" }, el("input", { type: "radio", name, value, checked: value === chosen }), el("span", {}, el("b", {}, title), `: ${read_}`))));

const tick = (name, title, read_) => el("label", { class: "choice" }, el("input", { type: "checkbox", name }), el("span", {}, el("b", {}, title), `: ${read_}`));

const select = (name, label, options) => el("div", { class: "field" }, el("label", { for: name }, label), el("select", { id: name, name },
  options.map(([value, title]) => el("option", { value }, title))));

function fields() {
  return [
    text("name", "Name", "Letters, digits, dots, dashes and underscores: it stands in addresses.", { required: true, maxlength: 100 }),
    text("labels", "Labels", "One on each line, in the order of the keys 1, 2, 3 …", { rows: 4, value: "no\nyes" }),
    tick("open", "Open labels", "people type them, and each new one opens a class"),
    choices("features", "What an instance is", FEATURES, "text"),
    text("names", "Names of the numbers", "With commas between them; left empty, an array of numbers.", { for: "features=numbers,mixed" }),
    text("texts", "Names of the texts", "With commas between them.", { for: "features=mixed" }),
    choices("budget", "How many labels you can afford", BUDGETS, "rate"),
    number("rate", "Share", "0.1 asks about a tenth of the instances.", "0.1", { min: 0, max: 1, for: "budget=rate" }),
    number("count", "Questions", "In every period.", "100", { min: 1, step: 1, for: "budget=time" }),
    number("per", "Period in seconds", "86400 is a day.", "86400", { min: 1, for: "budget=time" }),
    number("slots", "People for a question", "More than one costs more and shows how far they agree.", "1", { min: 1, max: 99, step: 1 }),
    choices("decide", "What the model is told then", DECIDE, "majority"),
    choices("order", "Which question comes first", ORDERS, "oldest"),
    tick("guess", "Show the model's guess before the answer", "faster, but people follow it, right or wrong"),
    el("details", {}, el("summary", {}, "How instances are shown"),
      select("kind", "Kind", KINDS),
      text("highlight", "Highlight", "A pattern such as free|win|\\d+ %; what matches is marked."),
      select("direction", "Direction of text", [["auto", "Found from the text"], ["ltr", "Left to right"], ["rtl", "Right to left"]]),
      text("media", "Images and sounds may come from", "One address on each line, such as https://images.example.org/mails/ with a slash at the end. Others are not loaded.", { rows: 2 }),
      tick("blind", "Reviewers see no names", "who said what is left out"),
      number("review", "Share that is reviewed", "Drawn at random, beside what is disputed or corrected.", "0.1", { min: 0, max: 1 })),
    el("details", {}, el("summary", {}, "Times"),
      number("lease", "Lease in seconds", "How long a question is held for somebody who went away.", "300", { min: 1 }),
      number("grace", "Grace in seconds", "How long an answer can be undone before the model learns it.", "20", { min: 0 }),
      number("forget", "Forget after seconds", "Questions that nobody answers expire; left empty, never.", "", { min: 1 })),
  ];
}

// Only what the choices so far need.
function hide(form) {
  for (const field of form.querySelectorAll("[data-for]")) {
    const [name, values] = field.dataset.for.split("=");
    field.hidden = !values.split(",").includes(form.elements[name].value);
  }
}

const list = (value) => value.split(/[,\n]/u).map((each) => each.trim()).filter(Boolean);
const ofLines = (value) => value.split("\n").map((each) => each.trim()).filter(Boolean);

// The choices of another stream.
function fill(form, { name, settings }) {
  const set = (field, value) => { form.elements[field].value = value ?? ""; };
  const { labels, features, budget, view, algorithm, letters, raw } = settings;
  set("name", `${name}-2`);
  form.elements.open.checked = labels === "open";
  if (labels !== "open") set("labels", labels.join("\n"));
  set("features", features.kind);
  set("names", (features.names ?? []).join(", "));
  set("texts", features.text.join(", "));
  set("budget", budget === null || (budget.rate === null && budget.count === null) ? "none" : budget.rate !== null ? "rate" : "time");
  for (const field of ["rate", "count", "per"]) if (budget?.[field]) set(field, budget[field]);
  for (const field of ["slots", "decide", "order", "lease", "grace", "forget"]) set(field, settings[field]);
  form.elements.guess.checked = settings.guess;
  for (const field of ["kind", "highlight", "direction", "review"]) set(field, view[field]);
  set("media", view.media.join("\n"));
  form.elements.blind.checked = view.blind;
  for (const each of form.querySelectorAll("details")) each.open = true;
  others = { places: features.places, most: budget?.most ?? null, settings: {} };
  if (algorithm !== "default") others.settings.algorithm = algorithm;
  if (Object.keys(letters).length) others.settings.letters = letters;
  if (raw) others.settings.raw = true;
}

// What is sent: everything that differs from what the service would take anyway.
export function read(form) {
  const given = (name) => form.elements[name].value;
  const chosen = (name) => form.elements[name].checked;
  const settings = { labels: chosen("open") ? "open" : ofLines(given("labels")), features: { kind: given("features") }, ...others.settings };
  if (others.places && given("features") !== "numbers") settings.features.places = others.places;
  if (["numbers", "mixed"].includes(given("features")) && given("names").trim()) settings.features.names = list(given("names"));
  if (given("features") === "mixed") settings.features.text = list(given("texts"));
  if (given("budget") === "rate") settings.budget = { rate: Number(given("rate")) };
  if (given("budget") === "time") settings.budget = { count: Number(given("count")), per: Number(given("per")) };
  if (others.most) settings.budget = { ...settings.budget, most: others.most };
  for (const [name, usual] of [["slots", 1], ["lease", 300], ["grace", 20]]) {
    if (Number(given(name)) !== usual) settings[name] = Number(given(name));
  }
  if (given("forget")) settings.forget = Number(given("forget"));
  for (const [name, usual] of [["decide", "majority"], ["order", "oldest"]]) if (given(name) !== usual) settings[name] = given(name);
  if (chosen("guess")) settings.guess = true;
  const view = {};
  for (const [name, usual] of [["kind", "auto"], ["highlight", ""], ["direction", "auto"]]) if (given(name) !== usual) view[name] = given(name);
  if (given("media").trim()) view.media = ofLines(given("media"));
  if (chosen("blind")) view.blind = true;
  if (Number(given("review")) !== 0.1) view.review = Number(given("review"));
  if (Object.keys(view).length) settings.view = view;
  return { name: given("name").trim(), settings };
}

// A pattern is one of JavaScript's: the service cannot say whether it is one.
function checkPattern(pattern) {
  try {
    new RegExp(pattern, FLAGS);
  } catch (error) {
    throw new Error(`Highlight is no pattern that a browser knows: ${error.message}.`);
  }
}

function asCall(body) {
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `curl -X POST ${location.origin}/v1/streams \\\n  -H 'Authorization: Bearer aw_...' \\\n  -H 'Content-Type: application/json' \\\n  -d '${json}'`;
}
