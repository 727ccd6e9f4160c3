// The labels of a stream: their order, meaning and colour, new ones, other names, and two that become one.

import { count, el, put, say, uuid } from "./dom.js";
import { call, streamPath } from "./api.js";
import { problem, words } from "./shell.js";
import { COLOURS, coloursOf, swatch } from "./colours.js";
import { pieces } from "./label_field.js";
import { rendered } from "./guidelines.js";

const MERGES = (label, into) => `Every answer “${label}” becomes “${into}”, and the model is trained again. This cannot be undone. Go on?`;

export async function labelSettings(stream, changed) {
  const path = streamPath(stream.name);
  const place = el("section", { class: "card", "aria-labelledby": "labels-title" });
  const [said, wrong] = [el("div", {}), el("div", {})];
  let { settings } = stream;
  let rows = await call("GET", `${path}/labels`);

  // One request, and what came of it; the same key for each try of one change.
  async function send(button, method, rest, body, done) {
    button.disabled = true;
    put(wrong);
    put(said);
    button.sent ??= uuid();
    try {
      ({ settings } = await call(method, path + rest, { ...body, key: button.sent }, { timeout: 600000 }));
      button.sent = null;
      rows = await call("GET", `${path}/labels`);
      show();
      put(said, el("p", { class: "done" }, done));
      say(done);
      changed(settings);
    } catch (error) {
      if (error.status) button.sent = null;
      put(wrong, problem(words(error)));
      wrong.scrollIntoView({ block: "nearest" });
    } finally {
      button.disabled = false;
    }
  }

  function row(each, i) {
    const about = el("input", { value: each.about, maxlength: 500, "aria-label": `Meaning of ${each.label}`, oninput: () => { each.about = about.value; } });
    const sample = el("span", { class: "swatches", "data-label": each.label }, swatch(colours().get(each.label)));
    const colour = el("select", { "aria-label": `Colour of ${each.label}`, onchange: () => { each.colour = colour.value || null; recolour(); } },
      ["", ...COLOURS].map((name) => el("option", { value: name, selected: name === (each.colour ?? "") }, name || (rows.length <= COLOURS.length ? "by itself" : "none"))));
    const move = (by, text, sign) => el("button", { type: "button", class: "quiet", "aria-label": `Move ${each.label} ${text}`, disabled: !rows[i + by], onclick: () => {
      [rows[i], rows[i + by]] = [rows[i + by], rows[i]];
      show();
      place.querySelectorAll("tbody tr")[i + by].querySelectorAll("button")[by < 0 ? 0 : 1].focus();
    } }, sign);
    return el("tr", {}, el("th", { scope: "row", class: "text", dir: "auto" }, pieces(each.label)), el("td", { class: "text wide" }, about),
      el("td", { class: "text" }, el("div", { class: "pick" }, sample, colour)), settings.labels !== "open" && el("td", {}, el("div", { class: "pick" }, move(-1, "up", "↑"), move(1, "down", "↓"))));
  }

  const colours = () => coloursOf(rows.map((each) => each.label), Object.fromEntries(rows.map((each) => [each.label, each.colour])));

  function recolour() {
    const found = colours();
    for (const sample of place.querySelectorAll(".swatches")) put(sample, swatch(found.get(sample.dataset.label)));
  }

  function show() {
    const isOpen = settings.labels === "open";
    const heads = ["Label", "What it means", "Colour", ...(isOpen ? [] : ["Order"])];
    const table = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "All labels" }, el("table", { class: "label-settings" },
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: "text" }, head)))), el("tbody", {}, rows.map(row))));
    put(place, el("h2", { id: "labels-title" }, rows.length ? `${count(rows.length)} labels` : "No label was given yet"), rows.length ? [table, save(isOpen)] : null,
      el("div", { class: "label-changes" }, adding(), rows.length > 1 ? [renaming(), merging()] : null), wrong, said);
  }

  const save = (isOpen) => el("p", {}, el("button", { type: "button", class: "main", onclick: ({ target }) => send(target, "PATCH", "", { settings: {
    about: Object.fromEntries(rows.map((each) => [each.label, each.about.trim() || null])), colours: Object.fromEntries(rows.map((each) => [each.label, each.colour])),
    ...(isOpen ? {} : { labels: rows.map((each) => each.label) }) } }, "Meanings, colours and order are saved.") }, "Save meanings, colours and order"));

  const form = (title, fields, text, submit) => {
    const button = el("button", {}, text);
    return el("form", { onsubmit: (event) => { event.preventDefault(); submit(button); } }, el("h3", {}, title), fields, button);
  };
  const field = (id, text, inside) => el("div", { class: "field" }, el("label", { for: id }, text), inside);
  const select = (id) => el("select", { id }, rows.map((each) => el("option", { value: each.label }, each.label)));

  function adding() {
    const given = el("textarea", { id: "new-labels", rows: 2, spellcheck: "false", required: true });
    return form("Add labels", field("new-labels", "One on each line", given), "Add", (button) => send(button, "POST", "/labels/add",
      { labels: given.value.split("\n").map((each) => each.trim()).filter(Boolean) }, "Added: people can give them from now on."));
  }

  function renaming() {
    const [label, to] = [select("rename-label"), el("input", { id: "rename-to", maxlength: 200, required: true, spellcheck: "false", autocomplete: "off" })];
    return form("Rename a label", [field("rename-label", "Label", label), field("rename-to", "Its new name", to)], "Rename", (button) => send(button, "POST", "/labels/rename",
      { label: label.value, to: to.value.trim() }, `“${label.value}” is “${to.value.trim()}” now, also where it was given before.`));
  }

  function merging() {
    const [label, into] = [select("merge-label"), select("merge-into")];
    into.selectedIndex = 1;
    return form("Merge two labels", [field("merge-label", "This label", label), field("merge-into", "becomes part of", into)], "Merge", (button) => {
      if (label.value === into.value || confirm(MERGES(label.value, into.value))) {
        send(button, "POST", "/labels/merge", { label: label.value, into: into.value }, `“${label.value}” is part of “${into.value}” now, also where it was given before.`);
      }
    });
  }

  show();
  return place;
}

// The guidelines, and how people will see them.
export function guidelineSettings(stream, changed) {
  const [said, wrong, seen] = [el("div", {}), el("div", {}), el("div", { class: "guidelines" })];
  const given = el("textarea", { id: "guidelines", rows: 8, maxlength: 50000, "aria-describedby": "guidelines-read" });
  given.value = stream.settings.guidelines;
  const show = () => put(seen, given.value.trim() ? rendered(given.value) : el("p", { class: "read" }, "Nothing is written yet."));
  given.addEventListener("input", () => { put(said); show(); });
  const button = el("button", { type: "button", class: "main", onclick: async () => {
    button.disabled = true;
    put(wrong);
    try {
      changed((await call("PATCH", streamPath(stream.name), { settings: { guidelines: given.value } })).settings);
      put(said, el("p", { class: "done" }, "The guidelines are saved."));
      say("The guidelines are saved.");
    } catch (error) {
      put(wrong, problem(words(error)));
    } finally {
      button.disabled = false;
    }
  } }, "Save the guidelines");
  show();
  return el("section", { class: "card", "aria-labelledby": "guidelines-title" }, el("h2", { id: "guidelines-title" }, "Guidelines for people"),
    el("div", { class: "two" }, el("div", { class: "field" }, el("label", { for: "guidelines" }, "How to decide"), given,
      el("p", { class: "read", id: "guidelines-read" }, "Markdown: # headings, - lists, **bold**, *italic*, `code`, [links](https://…). HTML is shown as it is written.")),
    el("div", { role: "region", "aria-label": "As people see them" }, seen)), wrong, said, el("p", {}, button));
}
