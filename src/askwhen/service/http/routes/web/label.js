// Questions and answers. One question fills the page; every answer is one key or one touch.

import { count, el, plural, put, say, uuid, warn } from "./dom.js";
import { Refused, call, isGone, isStillHere, session, streamFacts, streamHere, streamPath, who } from "./api.js";
import { askAgain, page, problem, words } from "./shell.js";
import { beside, inWords, saying } from "./advice.js";
import { instance, summary } from "./instance.js";
import { isForPage, isTooSoon, keyOf, latinOf, nowShown, secondsShown } from "./keys.js";
import { Outbox, inWords as safetyOf } from "./outbox.js";
import { QuestionBuffer } from "./question_buffer.js";
import { first } from "./first.js";
import { scrolled } from "./scroll.js";
import { help } from "./help.js";
import { LabelPanel } from "./label_panel.js";
import { guessed, inText, isNumber, namesOf } from "./label_field.js";
import { Tally } from "./tally.js";
import { commentOn, showGuidelines } from "./remark.js";

const REMEMBERED = 20;

const name = streamHere();
let facts, questions, outbox, places, whose;
let labels = [];
const panel = new LabelPanel(name, "Labels", (label) => answer(label));
const tally = new Tally(name);
const done = []; // what was answered last, newest at the end: { entry, question }

page(start);

async function start(main) {
  if (whose && whose !== session.name) {
    location.reload(); // what this page holds is another person's
    return;
  }
  facts = await streamFacts();
  places = frame();
  put(main, places.all);
  main.classList.add("labelling");
  learn(namesOf(facts.settings));
  tally.look();
  if (!whose) {
    whose = session.name;
    outbox = new Outbox({ changed: showSafety, sent, refused });
    questions = new QuestionBuffer(name, facts.settings.lease, outbox, { shown, elsewhere, reachable, lost, failed, ahead, renewed }, first);
    document.addEventListener("keydown", pressed);
    addEventListener("beforeunload", (event) => outbox.state.waiting && !outbox.state.kept && event.preventDefault());
  } else {
    outbox.state.signedIn = true;
    showSafety(outbox.state);
    outbox.flush();
  }
  if (questions.current) shown(questions.current);
  else places.wait("Fetching the first question …");
  questions.fill();
}

// The page.

function frame() {
  const parts = {
    safety: el("p", { class: "safety", id: "safety" }),
    refusals: el("div", {}),
    trouble: el("div", {}),
    notice: el("div", {}),
    question: el("section", { class: "question", "aria-label": "Question", tabindex: -1 }),
    last: el("p", { class: "last" }),
  };
  const act = (text, key, run, more = {}) => el("button", { type: "button", class: "act", "aria-keyshortcuts": key, onclick: run, ...more },
    text, key && el("kbd", { "aria-hidden": "true" }, key));
  parts.acts = el("div", { class: "acts", role: "group", "aria-label": "Instead of a label" },
    act("Unsure", "u", () => answer(null)), act("Skip", "s", skip), act("Undo", "z", undo),
    act("Comment", null, comment), facts.settings.guidelines && act("Guide", null, () => showGuidelines(facts.settings.guidelines)),
    !isNumber(facts.settings) && act("Find", "/", find, { class: "act keyboard" }), act("Keys", "?", openHelp, { class: "act keyboard" }));
  parts.all = [
    el("div", { class: "head" }, el("h1", {}, name), tally.place),
    parts.safety, el("div", {}, parts.refusals, parts.notice, parts.trouble), parts.question,
    parts.panel = el("div", { class: "panel" }, panel.element, parts.acts, parts.last),
  ];
  parts.wait = (text) => {
    parts.empty(el("p", { class: "lead wait" }, text));
  };
  parts.empty = (said) => {
    parts.onScreen = null;
    put(parts.question, said);
    idle(parts, true);
  };
  return parts;
}

// Without a question, labels can be reached and read, but not used.
function idle(parts, yes) {
  parts.panel.classList.toggle("idle", yes);
  panel.idle(yes);
}

function learn(found) {
  labels = found;
  panel.learn(labels, facts.settings);
  places.panel.parentElement?.classList.toggle("parted", panel.element.dataset.size === "many");
  idle(places, !places.onScreen);
}

// Open labels grow while people work: those that are known already keep their places.
function learnNew(found) {
  const fresh = found.filter((label) => !labels.includes(label));
  if (fresh.length) learn([...labels, ...fresh]);
}

// Labels were added, renamed, merged or put into another order: their meanings and colours may be others too.
function changedLabels(found) {
  learn(found);
  renewed();
}

function shown(question) {
  nowShown();
  if (question === null) {
    places.wait("No question is waiting. New ones appear here by themselves.");
    panel.guess(null);
    say("No question is waiting.");
    sayWhy();
    return;
  }
  places.onScreen = question;
  if (facts.settings.labels === "open") learnNew(question.labels);
  else if (question.labels.join("\n") !== labels.join("\n")) changedLabels(question.labels);
  idle(places, false);
  places.question.dataset.question = question.question;
  const advice = question.advice ?? [];
  put(places.question, instance(question, facts.settings.view), beside(advice));
  const guess = facts.settings.guess ? question.guess ?? null : null;
  panel.begin(guess);
  say(`New question. ${summary(question)}${guess === null ? "" : ` The model guesses ${guessed(guess)}.`}${inWords(advice)}`);
}

// A person may be asked only so many questions a day, or none for a while.
async function sayWhy() {
  const name_ = session.open ? `&annotator=${encodeURIComponent(session.name)}` : "";
  const mine = await call("GET", streamPath(name, `/progress?since=${Math.floor(Date.now() / 1000)}${name_}`)).catch(() => null);
  if (mine?.left !== 0 || places.onScreen) return;
  const back = mine.back ? ` until ${new Date(1000 * mine.back).toLocaleDateString()}` : " for now";
  const why = mine.paused ? `You are asked nothing in this stream${back}.` : "That was all for today: you have answered as many questions as you are asked within 24 hours.";
  places.wait(why);
  say(why);
}

function elsewhere() {
  const text = "You are labelling this stream in another tab, which has your next questions. Go on there, or close it.";
  if (places.question.textContent === text) return;
  places.wait(text);
  panel.guess(null);
  say(text);
}

function showSafety(state) {
  questions?.settle();
  if (questions && !state.reachable) reachable(false);
  const { safe, text } = safetyOf(state);
  if (places.safety.textContent !== text) {
    if (safe !== (places.safety.dataset.safe === "yes") && places.safety.textContent) (safe ? say : warn)(text);
    places.safety.dataset.safe = safe ? "yes" : "no";
    put(places.safety, el("span", { class: "mark", "aria-hidden": "true" }, safe ? "✓" : "!"), el("span", { class: "words" }, text),
      !state.signedIn && el("button", { type: "button", class: "quiet", onclick: () => askAgain(start) }, "Sign in"));
  }
  showRefused(state.refused);
}

// One is shown as it is, several as one line that opens.
function showRefused(entries) {
  const away = (text, some) => el("button", { type: "button", class: "quiet", onclick: () => some.forEach((entry) => outbox.drop(entry.key)) }, text);
  const one = (entry) => [`Your answer ${entry.label === null ? "unsure" : `“${inText(entry.label)}”`} to question ${entry.question} of ${entry.stream} `
    + `was not taken: ${entry.refused} `, away("Put away", [entry])];
  const isOpen = places.refusals.querySelector("details")?.open;
  put(places.refusals, entries.length === 0 ? null : el("div", { class: "problem" }, entries.length === 1 ? one(entries[0])
    : [el("details", { open: isOpen }, el("summary", {}, `${count(entries.length)} of your answers were not taken`),
      el("ul", {}, entries.map((entry) => el("li", {}, one(entry))))), away("Put all away", entries)]));
}

// What a person does.

// Only the question on the screen is answered.
function isOnScreen() {
  return questions.current !== null && places.onScreen === questions.current && places.question.isConnected;
}

function ready() {
  return !undoing && isOnScreen() && !isTooSoon();
}

function give(act, label) {
  if (!ready()) return null;
  const question = questions.current;
  const given = { key: uuid(), stream: name, question: question.question, opened: question.opened, act, label, lead: Math.min(secondsShown(), 86400) };
  outbox.add(given);
  done.push({ entry: given, question });
  if (done.length > REMEMBERED) done.shift();
  if (!questions.finish()) places.wait("Fetching the next question …");
  return given;
}

function answer(label) {
  if (!give("answer", label)) return false;
  if (label !== null) {
    if (!panel.number) learnNew([label].flat());
    panel.flash(label);
  }
  tally.add(1);
  put(places.last, "Last: ", el("strong", { dir: "auto" }, inText(label)), ".");
  return true;
}

function skip() {
  if (give("skip", null)) put(places.last, "Skipped: others answer it. Undo brings it back.");
}

function comment() {
  if (isOnScreen()) commentOn(name, questions.current.question, () => put(places.last, "The comment is stored: reviewers read it beside the question."));
}

// One after the other: a second undo takes back the answer before, and nothing is answered meanwhile.
let undoing = 0;
let undone = Promise.resolve();

function undo() {
  undoing += 1;
  undone = undone.then(undoLast).finally(() => {
    undoing -= 1;
  });
}

async function undoLast() {
  const last = done.at(-1);
  if (last && (await outbox.recall(last.entry))) {
    bringBack(last, "Taken back before it was sent.");
    return;
  }
  try {
    await outbox.flush(); // what may have come to the server is sent again, and taken back there
    if (last && (await outbox.recall(last.entry))) {
      bringBack(last, "Taken back before it was sent.");
      return;
    }
    if (last && outbox.has(last.entry)) {
      tell(outbox.state.reachable ? "The answer is on its way: undo it in a moment." : "Undo needs the server, which cannot be reached now.");
      return;
    }
    const path = last ? `/questions/${last.question.question}/undo` : "/questions/undo";
    const found = await call("POST", streamPath(name, path), who());
    const question = last?.question ?? (await call("GET", streamPath(name, `/questions/${found.question}`)));
    bringBack(last ?? { question }, found.note ? `Taken back; ${found.note}.` : "Taken back.");
  } catch (error) {
    if (last && [404, 409].includes(error.status)) done.splice(done.indexOf(last), 1); // nothing is left to take back
    tell(error instanceof Refused ? words(error) : "Undo needs the server, which cannot be reached now.");
  }
}

function bringBack(last, text) {
  if (done.at(-1) === last) done.pop();
  if (last.entry && last.entry.act !== "skip") tally.add(-1);
  questions.front(last.question);
  tell(text);
}

function tell(text) {
  put(places.last, text);
  say(text);
}

// What comes back.

async function sent(entry, receipt) {
  questions?.sent(entry);
  if (questions && !questions.current) questions.fill();
  const last = done.at(-1);
  if (!receipt || entry.stream !== name || last?.entry.key !== entry.key || receipt.label === undefined) return;
  try {
    const name_ = session.open ? `?annotator=${encodeURIComponent(session.name)}` : "";
    const found = await call("GET", streamPath(name, `/questions/${entry.question}/guess${name_}`));
    if (done.at(-1)?.entry.key !== entry.key || (found.guess === null && !found.advice)) return;
    put(places.last, "Last: ", el("strong", { dir: "auto" }, inText(entry.label)), ".", found.guess !== null && [" The model guessed ",
      String(found.guess) === String(entry.label) ? "the same." : [el("strong", { dir: "auto" }, guessed(found.guess)), "."]],
    found.advice && [" ", saying(found.advice), "."]);
  } catch {
    // the guess is a courtesy
  }
}

function refused(entry, why) {
  warn(`An answer was not taken: ${why}`);
}

function reachable(yes, error) {
  const what = error instanceof Refused ? `The server has trouble: ${error.message}` : "The server cannot be reached.";
  if (!yes && !questions.current) places.wait(`${what} The next question comes as soon as it can.`);
  if (yes) put(places.trouble);
  if (yes && !outbox.state.reachable) outbox.flush();
}

// The settings may have been changed meanwhile. What a page may load is said when it is made.
async function renewed() {
  const found = await call("GET", streamPath(name)).catch(() => null);
  if (!found) return;
  if (found.settings.lease !== facts.settings.lease) questions.keep(found.settings.lease);
  if (found.settings.view.media.join() !== facts.settings.view.media.join()) {
    put(places.notice, el("p", { class: "problem" }, "The allowed addresses of images and sounds have changed: ",
      el("button", { type: "button", class: "quiet", onclick: () => location.reload() }, "Load the page again")));
  }
  const isOther = ["labels", "about", "colours"].some((each) => JSON.stringify(found.settings[each]) !== JSON.stringify(facts.settings[each]));
  facts = found;
  if (isOther) learn(facts.settings.labels === "open" ? labels : namesOf(facts.settings));
}

function ahead(number) {
  places.question.dataset.ahead = number;
}

function lost(question, why) {
  tell(`The question was taken away: ${why}`);
}

// Whom the stream is not given to any more sees nothing of it.
function gone() {
  questions.forget();
  done.length = 0;
  places.panel.remove();
  tally.place.remove();
  [places.notice, places.trouble].forEach((each) => put(each));
  places.wait("You are no longer asked in this stream, or it has been renamed.");
  warn("You are no longer asked in this stream.");
}

function failed(error) {
  if (isGone(error)) {
    gone();
    return;
  }
  if (error.status === 401) askAgain(start, outbox.state.waiting ? `${plural(outbox.state.waiting, "answer")} not sent yet: kept in this browser, and sent when you sign in again.` : "");
  else if (error.status === 422) isStillHere().then((yes) => (yes ? sayFailed(error) : location.reload()), () => sayFailed(error));
  else sayFailed(error);
}

function sayFailed(error) {
  if (isOnScreen()) put(places.trouble, problem(`The next question cannot be fetched: ${words(error)}`));
  else places.empty(problem(words(error)));
}

// Keys.

function pressed(event) {
  if (!places.question.isConnected || scrolled(event, places.question) || !isForPage(event)) return;
  if (event.key === "Enter" && (panel.several || panel.number || panel.guessed !== null) && !event.target.closest?.("button, a, summary, audio")) {
    event.preventDefault();
    if (panel.several || panel.number) panel.give();
    else answer(panel.guessed);
    return;
  }
  const run = meaning(keyOf(event)) ?? meaning(latinOf(event));
  if (!run) return;
  event.preventDefault();
  run();
}

function meaning(key) {
  const acts = { u: () => answer(null), s: skip, z: undo, "/": find, "?": openHelp, p: play };
  if (Object.hasOwn(acts, key)) return acts[key];
  if (panel.number && /^[\d.,+-]$/u.test(key ?? "")) return () => panel.type(key);
  const label = panel.labelOf(key);
  return label === undefined ? null : () => panel.take(label);
}

function play() {
  const sound = places.question.querySelector("audio");
  if (sound) sound.paused ? sound.play() : sound.pause();
}

function find() {
  if (isOnScreen()) panel.open();
}

function openHelp() {
  help(name, labels, () => learn(labels), undefined, facts.settings.about);
}
