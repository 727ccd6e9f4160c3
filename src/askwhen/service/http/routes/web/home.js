// The streams: pick one, make one, change one, take its tables home.

import { count, el, plural, put, say } from "./dom.js";
import { call, linked, may, streamPath } from "./api.js";
import { page, problem, words } from "./shell.js";
import { exports } from "./exports.js";

const MOST = 100; // cards at once; a search finds the others
const ORDERS = [["name", "By name"], ["waiting", "Most questions waiting"], ["rounds", "Most instances"], ["disputed", "Most disputed"]];

page(async (main) => {
  const archived = new URLSearchParams(location.search).has("archived");
  const found = await call("GET", `/v1/streams?archived=${archived}`);
  const shown = archived ? found.filter((each) => each.state === "archived") : found;
  const list = el("div", {});
  const field = el("input", { id: "find", type: "search", autocomplete: "off", spellcheck: "false", oninput: () => show() });
  const order = el("select", { id: "order", onchange: () => show() }, ORDERS.map(([value, title]) => el("option", { value }, title)));
  const find = shown.length > 1 && el("div", { class: "find row", role: "search", "aria-label": "Streams" },
    el("div", { class: "field" }, el("label", { for: "find" }, "Find by name, label or tag"), field),
    el("div", { class: "field" }, el("label", { for: "order" }, "Order"), order));
  const show = () => {
    const some = sorted(shown.filter((each) => matches(each, field.value)), order.value);
    put(list, shown.length === 0 ? empty(archived) : some.length === 0 ? el("p", { class: "lead", role: "status" }, "No stream has all of these words.")
      : [el("ul", { class: "streams" }, some.slice(0, MOST).map(card)),
        some.length > MOST && el("p", { class: "read" }, `${count(some.length - MOST)} more: type a part of a name to find them.`)]);
  };
  const tagged = (tag) => { field.value = tag; show(); field.focus(); };
  list.addEventListener("click", ({ target }) => target.dataset.tag && tagged(target.dataset.tag));
  show();
  put(main,
    el("div", { class: "head" }, el("h1", {}, archived ? "Archived streams" : "Streams"),
      !archived && may("admin") && el("a", { class: "button main", href: linked("/new") }, "New stream")),
    find, list,
    el("p", { class: "read" }, el("a", { href: linked(archived ? "/" : "/?archived") },
      archived ? "Back to the streams" : "Archived streams")),
  );
});

// All words somewhere in the name, the labels or the tags.
function matches(stream, text) {
  const { labels, tags } = stream.settings;
  const where = [stream.name, ...tags, ...(Array.isArray(labels) ? labels : [labels])].join("\n").toLocaleLowerCase();
  return text.toLocaleLowerCase().split(/\s+/u).every((word) => where.includes(word));
}

function sorted(streams, order) {
  return order === "name" ? streams : [...streams].sort((a, b) => b[order] - a[order]);
}

function empty(archived) {
  return el("p", { class: "lead" }, archived ? "None was archived."
    : `There is no stream yet.${may("admin") ? " Make one: it takes a minute." : " Ask an administrator of the service for one."}`);
}

function card(stream) {
  const at = (view) => linked(`/${view}/${encodeURIComponent(stream.name)}`);
  const labels = !Array.isArray(stream.settings.labels) ? { open: "open labels", numbers: `numbers, right within ${stream.settings.within}` }[stream.settings.labels] : stream.settings.labels.slice(0, 6).join(", ")
    + (stream.settings.labels.length > 6 ? ` and ${stream.settings.labels.length - 6} more` : "");
  const wrong = el("div", {});
  return el("li", { class: "card stream" },
    el("h2", {}, stream.name, stream.state !== "active" && el("span", { class: "tag" }, stream.state)),
    el("p", { class: "read" }, el("bdi", {}, labels)),
    stream.settings.tags.length > 0 && el("p", { class: "tags" }, stream.settings.tags.map((tag) =>
      el("button", { type: "button", class: "quiet tag", "data-tag": tag, "aria-label": `Find streams with the tag ${tag}` }, tag))),
    stream.problem && problem(words(new Error(stream.problem))),
    el("p", {}, el("strong", {}, plural(stream.waiting, "question")), ` waiting · ${plural(stream.rounds, "instance")} · `
      + `${plural(stream.told, "label")}${stream.disputed ? ` · ${count(stream.disputed)} disputed` : ""}`),
    el("div", { class: "row" },
      may("annotator") && el("a", { class: "button main", href: at("label") }, "Label",
        el("span", { class: "unseen" }, ` ${stream.name}`)),
      may("reviewer") && el("a", { class: "button", href: at("review") }, "Review",
        el("span", { class: "unseen" }, ` ${stream.name}`)),
      may("reviewer") && el("a", { class: "button", href: at("browse") }, "Browse",
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
  const tags = el("input", { id: `tags-${stream.name}`, value: stream.settings.tags.join(", "), spellcheck: "false", "aria-describedby": `tags-read-${stream.name}` });
  const typed = el("input", { id: `delete-${stream.name}`, autocomplete: "off", spellcheck: "false" });
  const name = el("input", { id: `name-${stream.name}`, value: stream.name, maxlength: 100, spellcheck: "false" });
  return el("details", {}, el("summary", {}, "Change", el("span", { class: "unseen" }, ` ${stream.name}`)),
    el("div", { class: "field" }, el("label", { for: `name-${stream.name}` }, "Name"),
      el("div", { class: "row" }, name, act("Rename", "PATCH", "", () => ({ name: name.value.trim() }), "Renamed."))),
    el("div", { class: "field" }, el("label", { for: tags.id }, "Tags"),
      el("div", { class: "row" }, tags, act("Save tags", "PATCH", "", () => ({ settings: { tags: tags.value.split(",").map((each) => each.trim()).filter(Boolean) } }), "Saved.")),
      el("p", { class: "read", id: `tags-read-${stream.name}` }, "Words with commas between them, by which the stream is found.")),
    el("div", { class: "row" },
      stream.state === "active" ? act("Pause", "POST", "/pause", null, "Paused.") : act("Resume", "POST", "/resume", null, "Resumed."),
      stream.state !== "archived" && act("Archive", "POST", "/archive", null, "Archived."),
      act("Replay", "POST", "/replay", null, "The model was retrained.")),
    stream.state === "archived" && el("div", { class: "field" },
      el("label", { for: typed.id }, `To delete it for good, with all instances and answers, type ${stream.name}`),
      el("div", { class: "row" }, typed, act("Delete for good", "DELETE", "", () => {
        if (typed.value.trim() !== stream.name) throw new Error("the name is not that of the stream, so nothing was deleted.");
      }, "Deleted."))),
    el("p", { class: "read" }, "A paused stream takes no instances, but answers. Archived streams ask nothing and are not listed; nothing is destroyed. "
      + "Replay retrains the model from the corrected answers."),
    el("p", { class: "read" }, el("a", { href: linked(`/change/${encodeURIComponent(stream.name)}`) }, "Its settings"),
      ": labels, guidelines, the budget, and how questions are asked and shown can be changed; for other features "
      + "or another algorithm ",
      el("a", { href: linked(`/new?like=${encodeURIComponent(stream.name)}`) }, `make a stream like ${stream.name}`), "."));
}
