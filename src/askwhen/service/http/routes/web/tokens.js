// Tokens are made here, shown once, and revoked; sign-ins are listed and ended.

import { el, put, say } from "./dom.js";
import { call, session } from "./api.js";
import { devices } from "./devices.js";
import { page, problem, words } from "./shell.js";
import { twice } from "./twice.js";

const ROLES = [["annotator", "answers questions"], ["reviewer", "decides, exports, sees people"], ["producer", "sends instances"], ["admin", "everything"]];
let places;

page(async (main) => {
  places = { list: el("div", {}), made: el("div", {}), wrong: el("div", {}), here: el("div", {}), unended: el("div", {}) };
  const streams = await call("GET", "/v1/streams?archived=true");
  put(main, el("div", { class: "head" }, el("h1", {}, "Tokens")),
    session.open && el("p", { class: "warning" }, "No token was made yet: everyone who reaches this service may do everything. The first one must be for an admin, and from then on everyone needs one."),
    el("div", { class: "two" }, el("section", { class: "card" }, el("h2", {}, "In use"), places.list), form(streams)),
    el("section", { class: "card" }, el("h2", {}, "Signed in"), places.unended, places.here));
  await show();
});

async function show() {
  const [found, present] = await Promise.all([call("GET", "/v1/tokens"), call("GET", "/v1/sign-ins")]);
  put(places.here, devices(present, true, end));
  put(places.list, found.length ? el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tokens in use" }, el("table", { class: "tokens" },
    el("thead", {}, el("tr", {}, ["Name", "May", "Revoke"].map((text) => el("th", { scope: "col", class: "text" }, text)))),
    el("tbody", {}, found.map((each) => el("tr", {}, el("th", { scope: "row", class: "text" }, each.name), el("td", { class: "text" }, each.roles.join(", "),
      el("br"), el("span", { class: "read" }, each.streams ? `only ${each.streams.join(", ")}` : "all streams",
        each.expires ? `, until ${new Date(1000 * each.expires).toLocaleDateString()}` : "")), el("td", { class: "text" }, revoke(each))))))) : el("p", { class: "read" }, "None."));
}

function revoke(each) {
  return twice("Revoke", each.name, async () => {
    try {
      await call("DELETE", `/v1/tokens/${each.token}`);
      say(`The token of ${each.name} was revoked.`);
      await show();
    } catch (error) {
      put(places.wrong, problem(words(error)));
    }
  });
}

async function end(each) {
  try {
    await call("DELETE", `/v1/sign-ins/${each.sign_in}`);
    say(`${each.name} was signed out.`);
    await show();
  } catch (error) {
    put(places.unended, problem(words(error)));
  }
}

function form(streams) {
  const name = el("input", { id: "name", type: "text", required: true, maxlength: 100, autocomplete: "off" });
  const days = el("input", { id: "days", type: "number", min: 1, max: 36500, step: "any" });
  const roles = ROLES.map(([role, text]) => el("label", { class: "choice" },
    el("input", { type: "checkbox", name: "role", value: role, checked: role === (session.open ? "admin" : "annotator") }), el("span", {}, el("b", {}, role), `: ${text}`)));
  const some = streams.map((each) => el("label", { class: "choice" }, el("input", { type: "checkbox", name: "stream", value: each.name }), el("span", {}, each.name)));
  const made = el("form", { class: "card" }, el("h2", {}, "New token"),
    el("div", { class: "field" }, el("label", { for: "name" }, "For whom"), name),
    el("fieldset", {}, el("legend", {}, "Roles"), roles),
    some.length > 0 && el("details", {}, el("summary", {}, "Only for some streams"), el("fieldset", {}, el("legend", {}, "Streams; none chosen means all"), some)),
    el("div", { class: "field" }, el("label", { for: "days" }, "Valid for so many days; left empty, without an end"), days),
    el("button", { class: "main" }, "Make it"), places.wrong, places.made);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const chosen = (kind) => [...made.querySelectorAll(`input[name=${kind}]:checked`)].map((each) => each.value);
    const body = { name: name.value.trim(), roles: chosen("role") };
    if (chosen("stream").length) body.streams = chosen("stream");
    if (days.value) body.days = Number(days.value);
    put(places.wrong);
    try {
      const found = await call("POST", "/v1/tokens", body);
      put(places.made, el("p", {}, `The token of ${found.name}. It is shown this once:`),
        el("pre", { class: "secret", tabindex: 0, role: "region", "aria-label": "The new token" }, found.secret));
      say("The token was made.");
      if (session.open) put(places.wrong, problem("From now on everyone needs a token: keep this one, and sign in with it."));
      else await show();
    } catch (error) {
      put(places.wrong, problem(words(error)));
    }
  });
  return made;
}
