// One's own page: roles, absence, answers, signed-in browsers, tokens and notifications.

import { count, duration, el, put, say } from "./dom.js";
import { call, linked, session } from "./api.js";
import { devices } from "./devices.js";
import { notifications } from "./notifications.js";
import { page, problem, words } from "./shell.js";
import { twice } from "./twice.js";
import { dayOf, timeOf } from "./who_settings.js";

const wrong = el("div", {});
let place;

page(async (main) => {
  if (session.open) {
    put(main, el("h1", {}, "You"), el("p", {}, "This service requires no tokens: there is nothing to see about you here."));
    return;
  }
  place = el("div", {});
  put(main, wrong, place, await notifications());
  await show();
});

async function show() {
  const found = await call("GET", "/v1/me");
  const streams = found.streams ? `only ${found.streams.join(", ")}` : "all streams";
  put(place, el("div", { class: "head" }, el("h1", {}, found.name)), el("p", { class: "lead" }, `${found.roles.join(", ")}; ${streams}${found.groups.length ? `; in ${found.groups.join(", ")}` : ""}`),
    found.roles.some((role) => role !== "producer") && away(found.away),
    el("section", { class: "card" }, el("h2", {}, "Answers"), answers(found.answers)),
    el("div", { class: "two" },
      el("section", { class: "card" }, el("h2", {}, "Signed in"), session.proxied ? el("p", { class: "read" }, "The proxy in front signs you in with every request.") : devices(found.sign_ins, false, end)),
      el("section", { class: "card" }, el("h2", {}, "Tokens"), tokens(found.tokens))));
}

function away(until) {
  const day = el("input", { id: "back", type: "date", value: until ? dayOf(until) : "", required: true });
  return el("form", { class: "card", onsubmit: (event) => { event.preventDefault(); send(timeOf(day.value), "You are away until then."); } },
    el("h2", {}, "Away"), el("p", { class: "read" }, until ? `You are asked nothing until ${new Date(1000 * until).toLocaleDateString()}.` : "While you are away you are asked nothing, in any stream."),
    el("div", { class: "field" }, el("label", { for: "back" }, "First day back"), el("div", { class: "row" }, day, el("button", {}, "I am away until then"),
      until && el("button", { type: "button", onclick: () => send(null, "You are back.") }, "I am back"))));
}

const send = (until, said) => act("/v1/me/away", said, "POST", { until });

function answers(found) {
  if (found.length === 0) return el("p", { class: "read" }, "None yet.");
  const names = ["Stream", "Answers", "Unsure", "Skipped", "Taken back", "Mean time", "Last"];
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Your answers" }, el("table", {},
    el("thead", {}, el("tr", {}, names.map((text, i) => el("th", { scope: "col", class: i ? null : "text" }, text)))),
    el("tbody", {}, found.map((each) => el("tr", {}, el("th", { scope: "row", class: "text" }, el("a", { href: linked(`/dashboard/${encodeURIComponent(each.stream)}`) }, each.stream)),
      [each.answers, each.unsure, each.skipped, each.undone].map((number) => el("td", {}, count(number))),
      el("td", {}, duration(each.seconds)), el("td", {}, each.last ? new Date(1000 * each.last).toLocaleDateString() : "unknown"))))));
}

function tokens(found) {
  if (found.length === 0) return el("p", { class: "read" }, "None.");
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Your tokens" }, el("table", { class: "tokens" },
    el("thead", {}, el("tr", {}, ["May", "Revoke"].map((text) => el("th", { scope: "col", class: "text" }, text)))),
    el("tbody", {}, found.map((each) => el("tr", {}, el("th", { scope: "row", class: "text" }, each.roles.join(", "), el("br"),
      el("span", { class: "read" }, each.streams ? `only ${each.streams.join(", ")}` : "all streams", each.expires ? `, until ${new Date(1000 * each.expires).toLocaleDateString()}` : "")),
      el("td", { class: "text" }, twice("Revoke", `the token ${each.token}`, () => act(`/v1/me/tokens/${each.token}`, "The token was revoked.")))))),
  ));
}

const end = (each) => act(`/v1/me/sign-ins/${each.sign_in}`, "The browser was signed out.");

async function act(path, said, method = "DELETE", body = undefined) {
  put(wrong);
  try {
    await call(method, path, body);
  } catch (error) {
    put(wrong, problem(words(error)));
    return;
  }
  say(said);
  try {
    await show();
  } catch (error) {
    if (error.status === 401) location.reload(); // it was this browser
    else put(wrong, problem(words(error)));
  }
}
