// What one is told of by mail or in a chat, as one chooses on one's own page.

import { el, put, say } from "./dom.js";
import { call } from "./api.js";
import { problem, words } from "./shell.js";
import { twice } from "./twice.js";

const KINDS = [["questions.waiting", "Questions wait", "once the oldest has waited for so long"], ["questions.disputed", "Disputes", "answers do not decide, so that a reviewer must"],
  ["promise.met", "Promise met", "nothing waits any more, and the promise of few errors holds"], ["promise.broken", "Promise broken", "it does not hold any more"],
  ["accuracy.below", "Accuracy below", "the recent accuracy is below a bound with its whole interval"], ["switch.detected", "Drift", "the data has changed"],
  ["budget.spent", "Budget spent", "no label is left to ask for"]];
const TOOLS = { slack: "Slack", mattermost: "Mattermost", "google-chat": "Google Chat", discord: "Discord", teams: "Microsoft Teams" };
const DIGESTS = [["0", "as it happens"], ["1", "every hour, together"], ["4", "every four hours, together"], ["24", "once a day, together"]];

const title = (kind) => KINDS.find(([name]) => name === kind)?.[1] ?? kind;
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export async function notifications() {
  const place = el("section", { class: "card", "aria-labelledby": "notifications-title" });
  const wrong = el("div", {});
  const path = "/v1/me/notifications";

  async function act(method, to, body, done) {
    put(wrong);
    try {
      await call(method, to, body);
      await show();
      say(done);
    } catch (error) {
      put(wrong, problem(words(error)));
      wrong.scrollIntoView({ block: "nearest" });
    }
  }

  function row(each) {
    const where = each.url.replace(/^mailto:/u, "");
    const when = [DIGESTS.find(([hours]) => Number(hours) === (each.digest ?? 0))?.[1] ?? `every ${each.digest} hours, together`, each.quiet && `quiet from ${each.quiet.replace("-", " to ")}${each.zone ? ` (${each.zone})` : ""}`];
    return el("tr", {}, el("th", { scope: "row", class: "text" }, where, each.stopped && el("p", { class: "warning" }, each.stopped)),
      el("td", { class: "text" }, each.kinds.map(title).join(", "), el("br"), el("span", { class: "read" }, [each.streams ? `only ${each.streams.join(", ")}` : "all streams", ...when].filter(Boolean).join("; "))),
      el("td", { class: "text" }, el("div", { class: "pick" }, el("button", { type: "button", onclick: () => act("POST", `${path}/${each.webhook}/test`, undefined, "A test message is on its way.") }, "Test", el("span", { class: "unseen" }, ` ${where}`)),
        twice("End", `the messages to ${where}`, () => act("DELETE", `${path}/${each.webhook}`, undefined, "Ended.")))));
  }

  function form({ mail, templates, kinds }, streams) {
    const field = (id, text, input, read_) => el("div", { class: "field" }, el("label", { for: id }, text), input, read_ && el("p", { class: "read", id: `${id}-read` }, read_));
    const input = (id, more = {}) => el("input", { id, autocomplete: "off", ...more });
    const tool = el("select", { id: "tool" }, [...(mail ? [["email", "e-mail"]] : []), ...templates.map((name) => [name, TOOLS[name] ?? name])].map(([value, text]) => el("option", { value }, text)));
    const to = input("to", { required: true, maxlength: 2000, spellcheck: "false", "aria-describedby": "to-read" });
    const oldest = input("oldest", { type: "number", min: 0, max: 10000, step: "any", value: "1" });
    const accuracy = input("accuracy", { type: "number", min: 0.01, max: 0.99, step: "any", value: "0.9" });
    const digest = el("select", { id: "digest" }, DIGESTS.map(([value, text]) => el("option", { value }, text)));
    const [from, until] = [input("quiet-from", { type: "time" }), input("quiet-until", { type: "time" })];
    const hours = input("zone", { value: zone ?? "", "aria-describedby": "zone-read", spellcheck: "false" });
    const choice = (name, value, text, read_ = "") => el("label", { class: "choice" }, el("input", { type: "checkbox", name, value, checked: value === "questions.waiting" }), el("span", {}, el("b", {}, text), read_ && `: ${read_}`));
    const made = el("form", {}, el("h3", {}, "Be told of more"),
      field("tool", "By", tool), field("to", "Address", to, "Of a mailbox, or of an incoming webhook that the chat tool gave you."),
      el("fieldset", {}, el("legend", {}, "Of what"), KINDS.filter(([name]) => kinds.includes(name)).map(([name, text, read_]) => choice("kind", name, text, read_))),
      el("div", { class: "pair" }, field("oldest", "Hours until questions wait for too long", oldest), field("accuracy", "Bound of the accuracy", accuracy)),
      streams.length > 0 && el("details", {}, el("summary", {}, "Only of some streams"), el("fieldset", {}, el("legend", {}, "Streams; none chosen means all"), streams.map(({ name }) => choice("stream", name, name)))),
      field("digest", "When", digest),
      el("div", { class: "pair" }, field("quiet-from", "Never from", from), field("quiet-until", "to", until)),
      field("zone", "Time zone", hours, "Of these hours, such as Europe/Berlin; left empty, UTC."), wrong, el("button", {}, "Tell me"));
    const chosen = (name) => [...made.querySelectorAll(`input[name=${name}]:checked`)].map((each) => each.value);
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      const [what, address] = [chosen("kind"), to.value.trim()];
      const quiet = from.value && until.value ? `${from.value}-${until.value}` : "";
      act("POST", path, { kinds: what, url: tool.value === "email" ? `mailto:${address}` : address, ...(tool.value === "email" ? {} : { template: tool.value }),
        ...(chosen("stream").length ? { streams: chosen("stream") } : {}), ...(what.includes("accuracy.below") ? { accuracy: Number(accuracy.value) } : {}),
        ...(what.includes("questions.waiting") ? { oldest: Number(oldest.value) } : {}), digest: Number(digest.value), quiet, zone: hours.value.trim() }, "Saved: you will be told.");
    });
    return made;
  }

  async function show() {
    const [found, streams] = await Promise.all([call("GET", path), call("GET", "/v1/streams")]);
    put(place, el("h2", { id: "notifications-title" }, "Notifications"), found.notifications.length === 0 && el("p", { class: "read" }, "You are told of nothing yet."),
      found.notifications.length > 0 && el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Your notifications" }, el("table", { class: "tokens" },
        el("thead", {}, el("tr", {}, ["To", "Of what", "Change"].map((text) => el("th", { scope: "col", class: "text" }, text)))), el("tbody", {}, found.notifications.map(row)))), form(found, streams));
  }

  await show();
  return place;
}
