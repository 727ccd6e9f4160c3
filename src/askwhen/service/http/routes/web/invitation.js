// An invitation is accepted here, once: it gives a token, which is shown, and signs this browser in.

import { el, put, say } from "./dom.js";
import { Refused, call, linked, session } from "./api.js";
import { problem, words } from "./shell.js";

const main = document.getElementById("main");
const secret = location.hash.slice(1);
const wrong = el("div", {});
const home = () => el("p", {}, el("a", { class: "button main", href: linked("/") }, "Go on"));

function offer() {
  const button = el("button", { type: "button", class: "main" }, "Accept the invitation");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const made = await call("POST", "/session/invitation", { secret });
      history.replaceState(null, "", location.pathname); // the secret is used up
      show(made);
    } catch (error) {
      put(wrong, problem(words(error)));
      button.disabled = error instanceof Refused;
    }
  });
  put(main, el("div", { class: "card gate" }, el("h1", {}, "You are invited"),
    session.name && !session.open && el("p", { class: "warning" }, `${session.name} is signed in here now, and will be signed out.`),
    el("p", {}, "This gives you a token of your own and signs this browser in. The link works once."), wrong, button));
}

function show(made) {
  const until = made.expires ? `, until ${new Date(1000 * made.expires).toLocaleDateString()}` : "";
  put(main, el("div", { class: "card gate" }, el("h1", {}, `Welcome, ${made.name}`),
    el("p", {}, `Your roles: ${made.roles.join(", ")}; ${made.streams ? `only ${made.streams.join(", ")}` : "all streams"}${until}. This browser is signed in.`),
    el("p", {}, "For other browsers and for programs, keep your token. It is shown this once:"),
    el("pre", { class: "secret", tabindex: 0, role: "region", "aria-label": "Your token" }, made.secret), home()));
  say("The invitation was accepted.");
}

if (secret) offer();
else put(main, el("div", { class: "card gate" }, el("h1", {}, "No invitation"), el("p", {}, "This address is not complete: open the whole link."), home()));
