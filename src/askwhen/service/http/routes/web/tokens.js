// Tokens and invitations are made here, shown once, and ended; so are sign-ins.

import { el, put, say } from "./dom.js";
import { call, linked, session } from "./api.js";
import { devices } from "./devices.js";
import { groups } from "./groups.js";
import { page, problem, words } from "./shell.js";
import { twice } from "./twice.js";

const ROLES = [["annotator", "answers questions"], ["reviewer", "decides, exports, sees people"], ["producer", "sends instances"], ["admin", "everything"]];
let places;

page(async (main) => {
  places = { list: el("div", {}), made: el("div", {}), wrong: el("div", {}), here: el("div", {}), unended: el("div", {}), invited: el("div", {}) };
  const streams = await call("GET", "/v1/streams?archived=true");
  put(main, el("div", { class: "head" }, el("h1", {}, "Tokens")),
    session.open && el("p", { class: "warning" }, "No token was made yet: everyone who reaches this service may do everything. The first one must be for an admin, and from then on everyone needs one."),
    el("div", { class: "two" }, el("section", { class: "card" }, el("h2", {}, "In use"), places.list, places.invited), form(streams)),
    await groups(),
    el("section", { class: "card" }, el("h2", {}, "Signed in"), places.unended, places.here),
    !session.open && el("section", { class: "card" }, el("h2", {}, "Who did what"), el("p", { class: "read" }, "Sign-ins, tokens, settings, exports, erasures and reviews of all streams, in order of time."),
      el("div", { class: "row" }, [["csv", "CSV"], ["ndjson", "NDJSON"], ["parquet", "Parquet"]].map(([format, text]) =>
        el("a", { class: "button small", href: linked(`/v1/audit?format=${format}`), download: `audit.${format}` }, text, el("span", { class: "unseen" }, " of the audit log"))))));
  await show();
});

async function show() {
  const [found, present, invited] = await Promise.all(["tokens", "sign-ins", "invitations"].map((what) => call("GET", `/v1/${what}`)));
  put(places.here, devices(present, true, end));
  put(places.invited, invited.length > 0 && [el("h3", {}, "Invitations that wait"),
    table("Invitations", "Withdraw", invited, (each) => withdraw(each), (each) => `, until ${moment(each.expires)}`)]);
  put(places.list, found.length ? table("Tokens in use", "Revoke", found, (each) => revoke(each), (each) => each.expires ? `, until ${new Date(1000 * each.expires).toLocaleDateString()}` : "") : el("p", { class: "read" }, "None."));
}

const moment = (time) => new Date(1000 * time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

function table(title, verb, found, button, until) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, el("table", { class: "tokens" },
    el("thead", {}, el("tr", {}, ["Name", "May", verb].map((text) => el("th", { scope: "col", class: "text" }, text)))),
    el("tbody", {}, found.map((each) => el("tr", {}, el("th", { scope: "row", class: "text" }, each.name), el("td", { class: "text" }, each.roles.join(", "),
      el("br"), el("span", { class: "read" }, each.streams ? `only ${each.streams.join(", ")}` : "all streams", until(each))), el("td", { class: "text" }, button(each)))))));
}

function withdraw(each) {
  return twice("Withdraw", `the invitation of ${each.name}`, async () => {
    try {
      await call("DELETE", `/v1/invitations/${each.invitation}`);
      say(`The invitation of ${each.name} was withdrawn.`);
      await show();
    } catch (error) {
      put(places.wrong, problem(words(error)));
    }
  });
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
    el("div", { class: "row" }, el("button", { class: "main" }, "Make it"),
      !session.open && el("button", { type: "button", onclick: () => send(true) }, "Make an invitation link")),
    !session.open && el("p", { class: "read" }, "The link gives the token once, to the first person who accepts it within a week."),
    places.wrong, places.made);
  const send = async (inviting) => {
    if (!made.reportValidity()) return;
    const chosen = (kind) => [...made.querySelectorAll(`input[name=${kind}]:checked`)].map((each) => each.value);
    const body = { name: name.value.trim(), roles: chosen("role") };
    if (chosen("stream").length) body.streams = chosen("stream");
    if (days.value) body.days = Number(days.value);
    put(places.wrong);
    try {
      const found = await call("POST", inviting ? "/v1/invitations" : "/v1/tokens", body);
      put(places.made, el("p", {}, inviting ? `Send this link to ${found.name}, and to no one else. It is shown this once:` : `The token of ${found.name}. It is shown this once:`),
        el("pre", { class: "secret", tabindex: 0, role: "region", "aria-label": inviting ? "The new link" : "The new token" }, inviting ? found.link : found.secret));
      say(inviting ? "The invitation was made." : "The token was made.");
      if (session.open) put(places.wrong, problem("From now on everyone needs a token: keep this one, and sign in with it."));
      else await show();
    } catch (error) {
      put(places.wrong, problem(words(error)));
    }
  };
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    send(false);
  });
  return made;
}
