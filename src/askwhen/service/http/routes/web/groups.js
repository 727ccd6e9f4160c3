// Groups of people, which streams name with an @ before the name.

import { el, put, say } from "./dom.js";
import { call } from "./api.js";
import { problem, words } from "./shell.js";
import { twice } from "./twice.js";

const READ = "Streams name a group in their settings with an @ before its name: as their team, or as specialists of a label.";

const ofText = (value) => value.split(/[\n,]/u).map((each) => each.trim()).filter(Boolean);

export async function groups() {
  const place = el("section", { class: "card", "aria-labelledby": "groups-title" });
  const wrong = el("div", {});

  async function act(method, path, body, done) {
    put(wrong);
    try {
      await call(method, path, body);
      await show();
      say(done);
    } catch (error) {
      put(wrong, problem(words(error)));
    }
  }

  const save = (name, members) => act("POST", "/v1/groups", { name, members: ofText(members) }, `The group ${name} is saved.`);

  function row({ name, members }) {
    const given = el("input", { value: members.join(", "), "aria-label": `Members of ${name}`, autocomplete: "off", spellcheck: "false" });
    return el("tr", {}, el("th", { scope: "row", class: "text", dir: "auto" }, name), el("td", { class: "text" }, given),
      el("td", { class: "text" }, el("div", { class: "pick" }, el("button", { type: "button", onclick: () => save(name, given.value) }, "Save", el("span", { class: "unseen" }, ` ${name}`)),
        twice("Remove", `the group ${name}`, () => act("DELETE", `/v1/groups/${encodeURIComponent(name)}`, undefined, `The group ${name} was removed.`)))));
  }

  async function show() {
    const found = (await call("GET", "/v1/people")).groups;
    const name = el("input", { id: "group-name", required: true, maxlength: 100, autocomplete: "off" });
    const members = el("input", { id: "group-members", autocomplete: "off", spellcheck: "false" });
    const form = el("form", { onsubmit: (event) => { event.preventDefault(); save(name.value.trim(), members.value); } },
      el("div", { class: "field" }, el("label", { for: "group-name" }, "New group"), name),
      el("div", { class: "field" }, el("label", { for: "group-members" }, "Its members, with commas between them"), members), el("button", {}, "Make the group"));
    put(place, el("h2", { id: "groups-title" }, "Groups"), el("p", { class: "read" }, READ),
      found.length > 0 && el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "All groups" }, el("table", { class: "terms" },
        el("thead", {}, el("tr", {}, ["Group", "Members", "Change"].map((text) => el("th", { scope: "col", class: "text" }, text)))), el("tbody", {}, found.map(row)))),
      form, wrong);
  }

  await show();
  return place;
}
