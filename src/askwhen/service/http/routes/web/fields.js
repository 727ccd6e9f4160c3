// The fields of forms about streams, and those for how questions are asked, which can be changed later too.

import { linked } from "./api.js";
import { el, put } from "./dom.js";
import { FLAGS } from "./instance.js";
import { problem, words } from "./shell.js";

const DECIDE = [["majority", "Majority", "more than half say the same; otherwise a reviewer decides"],
  ["unanimity", "Unanimity", "all say the same; otherwise a reviewer decides"], ["adjudicator", "Always a reviewer", "whatever the answers say"],
  ["weighted", "Weighed", "people whose answers were better so far count more; where that is not clear, a reviewer decides"]];
const ORDERS = [["oldest", "Oldest first", "so that none waits too long"], ["newest", "Newest first", "what has just come, as long as it matters"], ["valuable", "Most doubtful first", "what the model learns most from"],
  ["priority", "By priority", "the number that came with the instance"]];
const MODES = [["live", "As they come", "for a stream of instances that need their prediction at once"],
  ["backlog", "As fast as people answer", "for a pile: what comes waits, and each is decided by the model of that moment; files that are imported wait in either case"]];
const KINDS = [["auto", "Found from what is shown"], ["text", "Text"], ["code", "Code"], ["table", "Table"], ["image", "Image by address"],
  ["audio", "Sound by address"], ["json", "JSON"]];

export const text = (name, label, read_, more = {}) => el("div", { class: "field", "data-for": more.for ?? null }, el("label", { for: name }, label),
  el(more.rows ? "textarea" : "input", { id: name, name, type: more.rows ? null : "text", autocomplete: "off", spellcheck: "false", "aria-describedby": `${name}-read`, ...more, for: null }),
  el("p", { class: "read", id: `${name}-read` }, read_));

export const number = (name, label, read_, value, more = {}) => text(name, label, read_, { type: "number", step: "any", value, ...more });

export const choices = (name, legend, options, chosen) => el("fieldset", {}, el("legend", {}, legend), options.map(([value, title, read_]) =>
  el("label", { class: "choice" }, el("input", { type: "radio", name, value, checked: value === chosen }), el("span", {}, el("b", {}, title), `: ${read_}`))));

export const tick = (name, title, read_, checked = false) => el("label", { class: "choice" }, el("input", { type: "checkbox", name, checked }), el("span", {}, el("b", {}, title), `: ${read_}`));

export const select = (name, label, options) => el("div", { class: "field" }, el("label", { for: name }, label), el("select", { id: name, name },
  options.map(([value, title]) => el("option", { value }, title))));

const BUDGETS = [["none", "As the rule finds best", "no limit is set"],
  ["errors", "At most this share of errors", "every instance gets a label, and people answer as many questions as that needs"],
  ["rate", "A share of the instances", "so that costs follow the traffic"],
  ["time", "So many in a period", "so that people have the same work every day"]];

// How much may be asked; for an existing stream, of the instances that come from now on. A promise of errors stays one.
export const budgeting = (like) => [
  choices("budget", "How many labels you can afford, or how many may be wrong",
    BUDGETS.filter(([kind]) => like === undefined || (kind === "errors") === isPromise(like)), isPromise(like) ? "errors" : "rate"),
  number("errors", "Share of errors", "0.05: at any time at most 5 % of the delivered labels are wrong, with 95 % confidence. What people say counts as right.", "0.05",
    { min: 0, max: 1, for: "budget=errors" }),
  number("rate", "Share", "0.1 asks about a tenth of the instances.", "0.1", { min: 0, max: 1, for: "budget=rate" }),
  number("count", "Questions", "In every period.", "100", { min: 1, step: 1, for: "budget=time" }),
  number("per", "Period in seconds", "86400 is a day.", "86400", { min: 1, for: "budget=time" }),
];

const isPromise = (budget) => Boolean(budget?.errors);

export function fillBudget(form, budget) {
  const isNone = budget === null || (budget.rate === null && budget.count === null);
  form.elements.budget.value = isPromise(budget) ? "errors" : isNone ? "none" : budget.rate !== null ? "rate" : "time";
  for (const field of ["errors", "rate", "count", "per"]) if (budget?.[field]) form.elements[field].value = budget[field];
}

// With what the form does not show of another budget: how many in all, and more of a promise.
export function readBudget(form, other) {
  const given = (name) => Number(form.elements[name].value);
  const kind = form.elements.budget.value;
  const none = { rate: null, most: other?.most ?? null, per: null, count: null, errors: null, confidence: null };
  if (kind === "errors") return { ...none, ...(isPromise(other) ? other : {}), errors: given("errors") };
  if (kind === "rate") return { ...none, rate: given("rate") };
  if (kind === "time") return { ...none, most: null, per: given("per"), count: given("count") };
  return other?.most ? none : null;
}

// Only what the choices so far need.
export function hide(form) {
  for (const field of form.querySelectorAll("[data-for]")) {
    const [name, values] = field.dataset.for.split("=");
    field.hidden = !values.split(",").includes(form.elements[name].value);
  }
}

// How questions are asked and shown; for an existing stream, with the effect of a change on open questions.
export function asking() {
  return [
    number("slots", "People for a question", "More than one costs more and shows how far they agree.", "1", { min: 1, max: 99, step: 1, required: true }),
    number("overlap", "Share that a second person answers too", "Drawn at random, while several people are at work: it shows how good answers are.", "0.05", { min: 0, max: 1, required: true }),
    number("gold", "Share of gold questions", "Questions whose label is known, mixed in at random and looking like all others, once there are some: Browse and Import make them.", "0.05", { min: 0, max: 0.5, required: true }),
    choices("decide", "Which label the model learns", DECIDE, "majority"),
    choices("order", "Which question comes first", ORDERS, "oldest"),
    choices("mode", "When instances are decided", MODES, "live"),
    number("questions", "Questions that wait", "Of a backlog. Left empty, 5 for each person who is active.", "", { min: 1, max: 10000, step: 1 }),
    tick("shuffle", "Shuffle the backlog", "for files that are sorted, by label or by date"),
    tick("repeats", "Use an answer again", "an instance whose content was answered before takes that answer, at no cost", true),
    tick("guess", "Show the model's guess before the answer", "faster, but people follow it, right or wrong"),
    tick("advice", "Show what advisers say before the answer", "faster, but what people say then also tells how far they follow it"),
    el("details", {}, el("summary", {}, "How instances are shown"),
      select("kind", "Kind", KINDS),
      text("highlight", "Highlight", "A pattern such as free|win|\\d+ %; what matches is marked."),
      select("direction", "Direction of text", [["auto", "Found from the text"], ["ltr", "Left to right"], ["rtl", "Right to left"]]),
      text("media", "Images and sounds may come from", "One address on each line, such as https://images.example.org/mails/ with a slash at the end. Others are not loaded.", { rows: 2 }),
      tick("blind", "Reviewers see no names", "answers are shown without annotators"),
      number("review", "Share that is reviewed", "Drawn at random, in addition to disputed and corrected questions.", "0.1", { min: 0, max: 1, required: true })),
    el("details", {}, el("summary", {}, "Times"),
      number("lease", "Lease in seconds", "How long a question is held for an annotator who went away.", "300", { min: 1, required: true }),
      number("grace", "Grace in seconds", "How long an answer can be undone before the model learns it.", "20", { min: 0, required: true }),
      number("forget", "Forget after seconds", "Questions without an answer expire; left empty, never.", "", { min: 1 }),
      number("erase", "Erase after seconds", "The contents of older instances are erased for good; decisions and labels stay. Left empty, never.", "", { min: 1 })),
  ];
}

// Whose advice is taken: none, names, or anybody's.
export const advising = () => text("advisers", "Advisers", "Whose advice may come with an instance, such as a language model that answers already: names with commas between them, or any. Left empty, none.");

export function fillAdvisers(form, advisers) {
  form.elements.advisers.value = Array.isArray(advisers) ? advisers.join(", ") : advisers ?? "";
}

export function readAdvisers(form) {
  const names = form.elements.advisers.value.split(",").map((each) => each.trim()).filter(Boolean);
  return names.length === 1 && names[0] === "any" ? "any" : names.length ? names : null;
}

const ofLines = (value) => value.split("\n").map((each) => each.trim()).filter(Boolean);

export function fillAsking(form, settings) {
  const set = (field, value) => { form.elements[field].value = value ?? ""; };
  for (const field of ["slots", "decide", "order", "lease", "grace", "forget", "erase", "mode"]) set(field, settings[field]);
  set("gold", settings.gold);
  set("overlap", settings.overlap ?? 0); // streams of earlier versions have none
  set("questions", settings.backlog.questions);
  form.elements.shuffle.checked = settings.backlog.shuffle;
  form.elements.guess.checked = settings.guess;
  form.elements.advice.checked = settings.advice;
  form.elements.repeats.checked = settings.repeats;
  for (const field of ["kind", "highlight", "direction", "review"]) set(field, settings.view[field]);
  set("media", settings.view.media.join("\n"));
  form.elements.blind.checked = settings.view.blind;
  for (const each of form.querySelectorAll("details")) each.open = true;
}

export function readAsking(form) {
  const given = (name) => form.elements[name].value;
  const number_ = (name) => (given(name).trim() === "" ? null : Number(given(name)));
  return {
    slots: number_("slots"), overlap: number_("overlap") ?? 0, gold: number_("gold") ?? 0, decide: given("decide"), order: given("order"), mode: given("mode"),
    backlog: { questions: number_("questions"), shuffle: form.elements.shuffle.checked }, guess: form.elements.guess.checked, advice: form.elements.advice.checked, repeats: form.elements.repeats.checked,
    view: { kind: given("kind"), highlight: given("highlight"), direction: given("direction"), media: ofLines(given("media")),
      blind: form.elements.blind.checked, review: number_("review") },
    lease: number_("lease"), grace: number_("grace"), forget: number_("forget"), erase: number_("erase"),
  };
}

// The settings that differ between two sets.
export function differing(settings, others) {
  const found = {};
  for (const [name, value] of Object.entries(settings)) {
    const isNested = name === "view" || name === "backlog";
    const inside = isNested ? differing(value, others[name]) : value;
    if (isNested ? Object.keys(inside).length : JSON.stringify(value) !== JSON.stringify(others[name])) found[name] = inside;
  }
  return found;
}

// Patterns are JavaScript's, which the service cannot check.
export function checkPattern(pattern) {
  try {
    new RegExp(pattern, FLAGS);
  } catch (error) {
    throw Object.assign(new Error(`Highlight is not a valid pattern: ${error.message}.`), { problem: { parameter: "highlight" } });
  }
}

export function asCall(method, path, body) {
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `curl -X ${method} ${location.origin}${linked(path)} \\\n  -H 'Authorization: Bearer aw_...' \\\n  -H 'Content-Type: application/json' \\\n  -d '${json}'`;
}

// A form, and next to it the request that it sends.
export function besideCall(form, call, read_) {
  return el("div", { class: "two" }, form, el("aside", { class: "card beside", "aria-labelledby": "call-title" },
    el("h2", { id: "call-title" }, "The same for a program"), el("p", { class: "read" }, read_), call));
}

// What is wrong, next to the field that it is about, where the user sees it.
export function sayWrong(form, place, error) {
  const field = form.elements[error.problem?.parameter];
  const home = field?.closest?.(".field");
  put(place, problem(words(error)));
  if (home) {
    field.closest("details")?.setAttribute("open", "");
    field.setAttribute("aria-invalid", "true");
    home.append(place);
    field.focus();
  }
  place.scrollIntoView({ block: "center" });
}

// Where a field that the browser refuses is folded away, show it.
export function unfold(form) {
  form.addEventListener("invalid", ({ target }) => target.closest("details")?.setAttribute("open", ""), true);
  form.addEventListener("input", ({ target }) => target.removeAttribute("aria-invalid"));
}

export const callPlace = () => el("pre", { tabindex: 0, role: "region", "aria-label": "The call of the API" });
