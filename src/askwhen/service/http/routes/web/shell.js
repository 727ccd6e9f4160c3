// What every page has: the bar at the top, signing in, and a place for what goes wrong.

import { el, put, warn } from "./dom.js";
import { Unreachable, enter, facts, linked, may, nameYourself, session, signIn, signOut, streamHere } from "./api.js";

const main = document.getElementById("main");

export function problem(text) {
  warn(text);
  return el("p", { class: "problem" }, text);
}

// What went wrong, in words for the person in front of the page.
export function words(error) {
  if (error instanceof Unreachable) return "The service cannot be reached. Is it running?";
  const text = error.message || String(error);
  return text[0].toUpperCase() + text.slice(1);
}

function bar() {
  const name = streamHere();
  const here = (address) => (location.pathname === linked(address) ? "page" : null);
  const link = (address, text) => el("a", { href: linked(address), "aria-current": here(address) }, text);
  const of = (page, text) => link(`/${page}/${encodeURIComponent(name)}`, text);
  put(
    document.getElementById("top"),
    el("a", { class: "brand", href: linked("/") }, "askwhen"),
    session.name && el("nav", { "aria-label": "Pages" },
      link("/", "Streams"),
      name && may("annotator") && of("label", "Label"),
      name && may("reviewer") && of("review", "Review"),
      name && may("reviewer") && of("browse", "Browse"),
      name && of("dashboard", "Dashboard"),
      name && may("producer") && of("import", "Import"),
      name && may("admin") && of("change", "Settings"),
      !name && may("admin") && link("/new", "New stream"),
      !name && may("admin") && link("/tokens", "Tokens"),
    ),
    session.name && el("span", { class: "me" }, session.open ? session.name : el("a", { href: linked("/me"), "aria-current": here("/me") }, session.name),
      (!session.proxied || session.leave) &&
        el("button", { type: "button", class: "quiet", onclick: leave }, session.open ? "Change name" : "Sign out")),
  );
}

async function leave() {
  const { unsent } = await import("./outbox.js");
  const waiting = await unsent(session.name);
  const [some, they] = waiting === 1 ? ["1 answer is", "It stays"] : [`${waiting} answers are`, "They stay"];
  if (waiting && !confirm(`${some} not sent yet. ${they} in this browser, and can be sent only after you sign in here again. Sign out now?`)) return;
  await signOut();
  location.assign(session.proxied ? session.leave : linked("/"));
}

function gate(start, note = "") {
  const asksName = session.open;
  if (session.refused) {
    put(main, el("div", { class: "card gate" }, el("h1", {}, "Not here"), problem(`${session.refused[0].toUpperCase()}${session.refused.slice(1)}`),
      session.openid && el("button", { type: "button", class: "main", onclick: leave }, "Sign out")));
    bar();
    return;
  }
  const field = el("input", {
    id: "token", type: asksName ? "text" : "password", required: true, autocomplete: asksName ? "nickname" : "off",
    maxlength: asksName ? 100 : 500, spellcheck: "false", autocapitalize: "off", "aria-describedby": "token-help",
  });
  const wrong = el("div", {});
  const there = !asksName && session.openid && el("a", { class: "button main",
    href: linked(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`) }, `Sign in with ${session.openid}`);
  const form = el("form", { class: "card gate", method: "post" },
    el("h1", {}, asksName ? "Who are you?" : "Sign in"),
    there && [there, el("p", { class: "read" }, "Or with a token:")],
    el("label", { for: "token" }, asksName ? "Your name" : "Token"),
    field,
    note && el("p", { class: "lead" }, note),
    el("p", { id: "token-help", class: "read" }, asksName
      ? "This service requires no tokens. Your answers are stored under the name that you give."
      : "An administrator of the service made one for you; it begins with aw_. It signs this browser in and is not stored here."),
    wrong,
    el("button", { class: there ? "" : "main" }, asksName ? "Go on" : "Sign in"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      if (asksName) nameYourself(field.value.trim() || "anonymous");
      else await signIn(field.value);
    } catch (error) {
      put(wrong, problem(words(error)));
      field.select();
      return;
    }
    if (document.documentElement.dataset.signed === "no" && !asksName) location.reload();
    else begin(start);
  });
  put(main, form);
  bar();
  (there || field).focus();
}

async function begin(start) {
  bar();
  if (document.documentElement.dataset.view !== "label") sendWhatWaits();
  const slow = setTimeout(() => !main.querySelector(":scope > :not(noscript)") && put(main, el("p", { class: "lead wait" }, "Loading …")), 300);
  try {
    if (facts?.problem) throw new Error(facts.problem); // the stream is set aside
    await start(main);
  } catch (error) {
    put(main, el("div", { class: "card" }, el("h1", {}, "This did not work"), problem(words(error)),
      el("p", {}, el("a", { href: linked("/") }, "Back to the streams"))));
  } finally {
    clearTimeout(slow);
  }
}

// A page that was opened from another site came without the cookie: what it may load is known only with it.
function comeAgain() {
  if (document.documentElement.dataset.signed === "yes" || session.open || !session.name) return false;
  if (sessionStorage.getItem("came again") === location.href) return false;
  sessionStorage.setItem("came again", location.href);
  location.replace(location.href);
  return true;
}

export async function page(start) {
  try {
    await enter();
  } catch (error) {
    put(main, el("div", { class: "card" }, el("h1", {}, "No connection"), problem(words(error)),
      el("button", { class: "main", onclick: () => location.reload() }, "Try again")));
    return;
  }
  if (comeAgain()) return;
  if (!session.name) gate(start);
  else await begin(start);
}

// Answers that another page could not send any more.
let outbox = null;
async function sendWhatWaits() {
  const { Outbox } = await import("./outbox.js");
  if (outbox) outbox.flush();
  else outbox = new Outbox();
}

// The token is not valid any more, or tokens are required now.
export async function askAgain(start, note) {
  await enter(true).catch(() => null);
  session.name = null;
  gate(start, note);
}
