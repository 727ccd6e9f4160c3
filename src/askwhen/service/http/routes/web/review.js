// The answers of annotators side by side, for a reviewer who decides.

import { el, percent, plural, put, say } from "./dom.js";
import { call, session, streamFacts, streamHere, streamPath, who } from "./api.js";
import { askAgain, page, problem, words } from "./shell.js";
import { beside } from "./advice.js";
import { instance, summary } from "./instance.js";
import { isForPage, isTooSoon, keyOf, latinOf, nowShown } from "./keys.js";
import { scrolled } from "./scroll.js";
import { help } from "./help.js";
import { LabelPanel } from "./label_panel.js";
import { guessed, inText, isNumber, namesOf, pieces } from "./label_field.js";
import { commentOn, showGuidelines } from "./remark.js";

const ACTS = [["n", "No label"], ["s", "Later: it stays in the list"], ["z", "Undo the last decision"], ["/", "Find a label by what you type"],
  ["Enter", "Give the label that is found"], ["?", "This window"]];
const REMEMBERED = 20;
const name = streamHere();
const panel = new LabelPanel(name, "The right label", (label) => decide(label));
const done = []; // what was decided last, newest at the end
let facts, places;
let which = "disputed";
let list = [];
let next = null;
let decided = 0;
let labels = [];
let started = false;

page(start);

async function start(main) {
  facts = await streamFacts();
  places = frame();
  put(main, places.all);
  main.classList.add("labelling");
  learn(labels.length ? labels : namesOf(facts.settings), true);
  if (!started) document.addEventListener("keydown", pressed);
  started = true;
  await choose(facts.disputed ? "disputed" : facts.corrected ? "corrected" : "disputed");
}

// What went wrong, next to the question, or instead of it where there is none.
function failed(error) {
  if (error.status === 401) askAgain(start);
  else if (list.length) put(places.last, problem(words(error)));
  else empty(problem(words(error)));
}

function frame() {
  const share = percent(facts.settings.view.review, 0);
  const kinds = [["disputed", "Disputed", "people disagree, and the stream does not decide by itself"],
    ["skipped", "Skipped", "everybody who was active in the last week has skipped it"],
    ["corrected", "Corrected", "an answer was changed after the model had learnt it"],
    ["sample", `Random ${share}`, "drawn from all questions, to know how good answers are"]];
  const parts = {
    tabs: el("div", { class: "tabs", role: "group", "aria-label": "Which questions" }, kinds.map(([kind, text]) =>
      el("button", { type: "button", "data-kind": kind, onclick: () => choose(kind).catch(failed) }, text, el("span", { class: "count" })))),
    why: el("p", { class: "read why" }),
    question: el("section", { class: "question", "aria-label": "Question" }),
    last: el("p", { class: "last" }),
    tally: el("span", { class: "tally" }),
    kinds: Object.fromEntries(kinds.map(([kind, , why]) => [kind, why])),
  };
  const act = (text, key, run, kind = "act") => el("button", { type: "button", class: kind, "aria-keyshortcuts": key, onclick: run }, text,
    key && el("kbd", { "aria-hidden": "true" }, key));
  parts.panel = el("div", { class: "panel" }, panel.element, el("div", { class: "acts", role: "group", "aria-label": "Instead of a label" },
    act("No label", "n", () => decide(null)), act("Later", "s", later), act("Undo", "z", undo), act("Comment", null, comment),
    facts.settings.guidelines && act("Guide", null, () => showGuidelines(facts.settings.guidelines)),
    !isNumber(facts.settings) && act("Find", "/", find, "act keyboard"), act("Keys", "?", openHelp, "act keyboard")), parts.last);
  parts.all = [el("div", { class: "head" }, el("h1", {}, `Review ${name}`), parts.tally), parts.tabs, parts.why, parts.question, parts.panel];
  return parts;
}

async function choose(kind) {
  which = kind;
  for (const tab of places.tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.kind === kind));
  put(places.why, `Questions in this list: ${places.kinds[kind]}.`);
  list = [];
  next = -1;
  countAll();
  await more();
  show();
}

// How many questions each list has.
async function countAll() {
  const found = await call("GET", streamPath(name, "/review/counts")).catch(() => null);
  for (const tab of found ? places.tabs.children : []) {
    const { count: number, more: isMore } = found[tab.dataset.kind];
    put(tab.lastElementChild, number ? `${number}${isMore ? "+" : ""}` : "0");
  }
}

async function more() {
  while (!list.length && next !== null) {
    const found = await call("GET", `${streamPath(name, "/review")}?which=${which}&after=${next}`);
    list = found.questions;
    next = found.next;
  }
}

let waiting = null; // for questions that come later

async function lookAgain() {
  if (list.length || busy || !places.question.isConnected) return;
  next = -1;
  await more().catch(() => null);
  show();
}

function idle(yes) {
  places.panel.classList.toggle("idle", yes);
  panel.idle(yes);
}

function empty(said) {
  delete places.question.dataset.question;
  put(places.question, said);
  idle(true);
}

function show() {
  const found = list[0];
  nowShown();
  if (!found) {
    empty(el("p", { class: "lead wait" }, "Nothing is left to review here. New questions appear by themselves."));
    if (!waiting) say("Nothing is left to review here.");
    clearTimeout(waiting);
    waiting = setTimeout(lookAgain, LOOK_AGAIN);
    return;
  }
  learn(found.shown.labels);
  idle(false);
  panel.begin(null);
  places.question.dataset.question = found.shown.question;
  put(places.question, instance(found.shown, facts.settings.view),
    el("ul", { class: "answers", "aria-label": "What people said" },
      found.answers.map((answer, i) => el("li", {}, `${answer.name ?? `Answer ${i + 1}`}: `, said(answer.label, inText(answer.label)))),
      el("li", {}, "The model guessed: ", said(found.guess, found.guess === null ? "nothing" : guessed(found.guess))),
      found.told !== null && el("li", {}, "The model learnt: ", el("b", { dir: "auto" }, inText(found.told))),
      String(found.label) !== String(found.told) && el("li", {}, "Current label: ", el("b", { dir: "auto" }, found.label === null ? "no label" : inText(found.label))),
      found.comments.map((each) => el("li", { class: "remark" }, each.name ? `${each.name} comments: ` : "A comment: ", el("bdi", {}, each.text ?? "erased")))),
    beside(found.shown.advice ?? []));
  const heard = found.answers.map((answer) => inText(answer.label)).join("; ");
  say(`Question to review. People said ${heard}. ${summary(found.shown)}`);
}

// What was said of the question: pressed, it is the decision.
function said(label, text) {
  if (label === null) return el("b", {}, text);
  return el("button", { type: "button", class: "said", dir: "auto", title: "Decide on this", onclick: () => decide(label) }, pieces(text));
}

function learn(found, again = false) {
  if (!again && found.length === labels.length && found.every((each, i) => each === labels[i])) return;
  labels = found;
  panel.learn(labels, facts.settings);
  places.panel.parentElement?.classList.toggle("parted", panel.element.dataset.size === "many");
}

let busy = false;
const LOOK_AGAIN = 5000;

const isReady = () => list.length > 0 && !busy && places.question.isConnected && !isTooSoon();

// The decision is stored when this returns, and the next question comes only then: a review must not be lost either.
async function decide(label) {
  if (!isReady()) return;
  const found = list[0];
  busy = true;
  if (label !== null) panel.flash(label);
  try {
    await call("POST", streamPath(name, `/questions/${found.shown.question}/review`), who({ label, first: true }));
    list.shift();
    done.push(found);
    if (done.length > REMEMBERED) done.shift();
    decided += 1;
    showTally();
    put(places.last, "Decided: ", el("strong", { dir: "auto" }, label === null ? "no label" : inText(label)), ". It is safe on the server.");
    await more();
    show();
    countAll();
  } catch (error) {
    if (error.status === 409) await passed(error).catch(failed);
    else failed(error);
  } finally {
    busy = false;
  }
}

function showTally() {
  put(places.tally, decided ? `${plural(decided, "decision")} in this sitting` : "");
}

// The last decision is taken back, and its question comes again.
async function undo() {
  const last = done.at(-1);
  if (!last || busy) {
    if (!last) put(places.last, "There is no decision of this sitting to undo.");
    return;
  }
  busy = true;
  try {
    await call("POST", streamPath(name, `/questions/${last.shown.question}/review/undo`), who());
    done.pop();
    decided -= 1;
    showTally();
    list.unshift(last);
    show();
    put(places.last, "Taken back: decide again.");
    say("Taken back: decide again.");
    countAll();
  } catch (error) {
    if ([404, 409].includes(error.status)) done.pop(); // nothing is left to take back
    failed(error);
  } finally {
    busy = false;
  }
}

function comment() {
  const [found] = list;
  if (!found) return;
  commentOn(name, found.shown.question, (text) => {
    found.comments.push({ text, name: facts.settings.view.blind ? null : session.name });
    if (found === list[0]) show();
  });
}

// Another reviewer was faster, or it cannot be decided any more: say so and go on to the next.
async function passed(error) {
  list.shift();
  await more();
  show();
  put(places.last, problem(words(error)));
}

async function later() {
  if (!isReady()) return;
  busy = true;
  try {
    list.shift();
    await more();
    show();
  } catch (error) {
    failed(error);
  } finally {
    busy = false;
  }
}

function find() {
  if (list.length) panel.open();
}

function openHelp() {
  help(name, labels, () => learn(labels, true), ACTS, facts.settings.about);
}

function pressed(event) {
  if (!places.question.isConnected || scrolled(event, places.question) || !isForPage(event)) return;
  for (const key of [keyOf(event), latinOf(event)]) {
    const acts = { n: () => decide(null), s: later, z: undo, "/": find, "?": openHelp };
    const label = panel.labelOf(key);
    const gives = (panel.several || panel.number) && event.key === "Enter" && !event.target.closest?.("button, a, summary");
    const types = panel.number && /^[\d.,+-]$/u.test(key ?? "");
    const run = Object.hasOwn(acts, key) ? acts[key] : label !== undefined ? () => panel.take(label) : gives ? () => panel.give() : types ? () => panel.type(key) : null;
    if (run) {
      event.preventDefault();
      run();
      return;
    }
  }
}
