// The streams: pick one, make one, change one, take its tables home.

import { count, el, plural, put, say } from "./dom.js";
import { call, linked, may, streamPath } from "./api.js";
import { page, problem, words } from "./shell.js";
import { exports } from "./exports.js";

page(async (main) => {
  const archived = new URLSearchParams(location.search).has("archived");
  const found = await call("GET", `/v1/streams?archived=${archived}`);
  const shown = archived ? found.filter((each) => each.state === "archived") : found;
  put(main,
    el("div", { class: "head" }, el("h1", {}, archived ? "Archived streams" : "Streams"),
      !archived && may("admin") && el("a", { class: "button main", href: linked("/new") }, "New stream")),
    shown.length ? el("ul", { class: "streams" }, shown.map(card)) : empty(archived),
    el("p", { class: "read" }, el("a", { href: linked(archived ? "/" : "/?archived") },
      archived ? "Back to the streams" : "Archived streams")),
  );
});

function empty(archived) {
  return el("p", { class: "lead" }, archived ? "None was archived."
    : `There is no stream yet.${may("admin") ? " Make one: it takes a minute." : " Ask an administrator of the service for one."}`);
}

function card(stream) {
  const at = (view) => linked(`/${view}/${encodeURIComponent(stream.name)}`);
  const labels = stream.settings.labels === "open" ? "open labels" : stream.settings.labels.slice(0, 6).join(", ")
    + (stream.settings.labels.length > 6 ? ` and ${stream.settings.labels.length - 6} more` : "");
  const wrong = el("div", {});
  return el("li", { class: "card stream" },
    el("h2", {}, stream.name, stream.state !== "active" && el("span", { class: "tag" }, stream.state)),
    el("p", { class: "read" }, el("bdi", {}, labels)),
    stream.problem && problem(words(new Error(stream.problem))),
    el("p", {}, el("strong", {}, plural(stream.waiting, "question")), ` waiting · ${plural(stream.rounds, "instance")} · `
      + `${plural(stream.told, "label")}${stream.disputed ? ` · ${count(stream.disputed)} disputed` : ""}`),
    el("div", { class: "row" },
      may("annotator") && el("a", { class: "button main", href: at("label") }, "Label",
        el("span", { class: "unseen" }, ` ${stream.name}`)),
      may("reviewer") && el("a", { class: "button", href: at("review") }, "Review",
        el("span", { class: "unseen" }, ` ${stream.name}`)),
      el("a", { class: "button", href: at("dashboard") }, "Dashboard", el("span", { class: "unseen" }, ` ${stream.name}`)),
      may("producer") && el("a", { class: "button", href: at("import") }, "Import",
        el("span", { class: "unseen" }, ` ${stream.name}`)),
    ),
    may("reviewer") && exports(stream),
    may("admin") && changes(stream, wrong),
    wrong,
  );
}

function changes(stream, wrong) {
  const act = (text, method, rest, body, done) => el("button", { type: "button", onclick: async () => {
    try {
      await call(method, streamPath(stream.name, rest), body?.());
      say(done);
      location.reload();
    } catch (error) {
      put(wrong, problem(words(error)));
    }
  } }, text);
  const name = el("input", { id: `name-${stream.name}`, value: stream.name, maxlength: 100, spellcheck: "false" });
  return el("details", {}, el("summary", {}, `Change ${stream.name}`),
    el("div", { class: "field" }, el("label", { for: `name-${stream.name}` }, "Name"),
      el("div", { class: "row" }, name, act("Rename", "PATCH", "", () => ({ name: name.value.trim() }), "Renamed."))),
    el("div", { class: "row" },
      stream.state === "active" ? act("Pause", "POST", "/pause", null, "Paused.") : act("Resume", "POST", "/resume", null, "Resumed."),
      stream.state !== "archived" && act("Archive", "POST", "/archive", null, "Archived."),
      act("Replay", "POST", "/replay", null, "The model was retrained.")),
    el("p", { class: "read" }, "A paused stream takes no instances, but answers. Archived streams are not listed; nothing is destroyed. "
      + "Replay retrains the model from the corrected answers."),
    el("p", { class: "read" }, el("a", { href: linked(`/change/${encodeURIComponent(stream.name)}`) }, "Its settings"),
      ": how questions are asked and shown can be changed; for other labels or another budget ",
      el("a", { href: linked(`/new?like=${encodeURIComponent(stream.name)}`) }, `make a stream like ${stream.name}`), "."));
}
