// The table of browsers that are signed in.

import { el } from "./dom.js";
import { twice } from "./twice.js";

const day = (time) => new Date(1000 * time).toLocaleDateString();
const moment = (time) => new Date(1000 * time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
const WAYS = { token: "by a token", openid: "by the identity provider" };

// `end` is called with the sign-in to be ended; `names` says whether there are those of several people.
export function devices(found, names, end) {
  const row = (each) => {
    const browser = each.browser || "Unknown browser";
    const of = names ? `${each.name}, ${browser}` : browser;
    return el("tr", {}, el("th", { scope: "row", class: "text" }, names ? each.name : browser, each.here && " (this one)"),
      el("td", { class: "text" }, names && [browser, el("br")], el("span", { class: "read" }, `since ${moment(each.since)} ${WAYS[each.way]}, until ${day(each.expires)}`),
        el("br"), el("span", { class: "read" }, each.seen ? `last used ${moment(each.seen)}` : "not used since the service started")),
      el("td", { class: "text" }, twice("Sign out", of, () => end(each))));
  };
  return found.length === 0 ? el("p", { class: "read" }, "None.") : el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Signed-in browsers" },
    el("table", { class: "tokens" },
      el("thead", {}, el("tr", {}, [names ? "Name" : "Browser", "Sign-in", "End it"].map((text) => el("th", { scope: "col", class: "text" }, text)))),
      el("tbody", {}, found.map(row))));
}
