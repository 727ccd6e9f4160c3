// The settings of a stream: those that can be changed as a form, with the exact call of the API beside it, and the others.

import { el, put, say, uuid } from "./dom.js";
import { call, linked, need, streamFacts, streamPath } from "./api.js";
import { page } from "./shell.js";
import { advising, asCall, asking, besideCall, budgeting, callPlace, checkPattern, differing, fillAdvisers, fillAsking, fillBudget, hide, readAdvisers, readAsking, readBudget, sayWrong, unfold } from "./fields.js";
import { guidelineSettings, labelSettings } from "./label_settings.js";
import { isNumber } from "./label_field.js";
import { settled } from "./settings.js";
import { whoSettings } from "./who_settings.js";

const AFTER = "Open questions keep their number of annotators, leases their end, and answers the time "
  + "in which they can be undone. Questions older than the new time to forget expire at once, unless an annotator has them; the contents of instances older than the new time to erase are erased for good.";

const FORGETS = "Open questions older than the new time expire at once.";
const ERASES = "The contents of instances older than the new time are erased for good and cannot be restored.";
const ENDS = { forget: `${FORGETS} Go on?`, erase: `${ERASES} Go on?`, "forget erase": `${FORGETS} ${ERASES} Go on?` };

page(async (main) => {
  need("admin");
  let stream = await streamFacts();
  let key = null; // the same for each try of one change
  const path = streamPath(stream.name);
  const call_ = callPlace();
  const [said, wrong] = [el("div", {}), el("div", {})];
  const button = el("button", { class: "main" }, "Change the settings");
  const pays = stream.settings.budget !== null || stream.settings.algorithm === "default"; // others ask by a rule of their own
  const isAdvised = stream.settings.advisers !== null; // advisers can be added, and advice cannot begin later
  const form = el("form", { class: "card" }, el("p", { class: "read" }, AFTER), pays && budgeting(stream.settings.budget), isAdvised && advising(), asking(), wrong, said, button);
  const changes = () => differing({ ...readAsking(form), ...(pays ? { budget: readBudget(form, stream.settings.budget) } : {}), ...(isAdvised ? { advisers: readAdvisers(form) } : {}) },
    { ...stream.settings, repeats: Boolean(stream.settings.repeats), overlap: stream.settings.overlap ?? 0 });
  const fill = () => {
    fillAsking(form, stream.settings);
    if (isAdvised) fillAdvisers(form, stream.settings.advisers);
    if (pays) fillBudget(form, stream.settings.budget);
    hide(form);
  };
  const show = () => {
    const found = changes();
    put(call_, Object.keys(found).length ? asCall("PATCH", path, { settings: found }) : "Nothing is changed yet.");
  };
  form.addEventListener("input", () => { key = null; put(said); put(wrong); hide(form); show(); });
  unfold(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const found = changes();
    if (!Object.keys(found).length) {
      put(said, el("p", { class: "read" }, "Nothing is changed yet."));
      say("Nothing is changed yet.");
      return;
    }
    const ends = ["forget", "erase"].filter((each) => found[each] !== undefined && found[each] !== null);
    if (ends.length && !confirm(ENDS[ends.join(" ")])) return;
    button.disabled = true;
    put(wrong);
    try {
      checkPattern(form.elements.highlight.value);
      key ??= uuid();
      stream = await call("PATCH", path, { settings: found, key });
      key = null;
      fill();
      put(said, el("p", { class: "done" }, `Changed: ${Object.keys(found).join(", ")}.`));
      say("Changed.");
      show();
    } catch (error) {
      sayWrong(form, wrong, error);
    } finally {
      button.disabled = false;
    }
  });
  fill();
  const now = (settings) => { stream = { ...stream, settings }; };
  put(main, el("div", { class: "head" }, el("h1", {}, `Settings of ${stream.name}`)),
    !isNumber(stream.settings) && await labelSettings(stream, now), guidelineSettings(stream, now), whoSettings(stream, now),
    besideCall(form, call_, "This is what the button sends."),
    el("section", { class: "card", "aria-labelledby": "stays" }, el("h2", { id: "stays" }, "What stays"), settled(stream.settings),
      el("p", { class: "read" }, "For others ", el("a", { href: linked(`/new?like=${encodeURIComponent(stream.name)}`) }, `make a stream like ${stream.name}`), ".")));
  show();
});
