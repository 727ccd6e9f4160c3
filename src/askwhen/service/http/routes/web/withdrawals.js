// Imports that wait in the backlog, each of which can be taken back.

import { count, el, plural, put, say } from "./dom.js";
import { call, streamPath } from "./api.js";
import { problem, words } from "./shell.js";

export function withdrawals(stream) {
  const [said, list] = [el("div", {}), el("ul", { class: "sources" })];
  const element = el("section", { class: "card", hidden: true, "aria-labelledby": "waiting-title" }, el("h2", { id: "waiting-title" }, "Imports that wait"),
    el("p", { class: "read" }, "Withdrawing takes back what has no answer: instances that wait leave the backlog, and open questions without an answer are dropped."), list, said);

  async function withdraw(source) {
    if (!confirm(`Withdraw ${source}? Its instances without an answer leave the stream.`)) return;
    try {
      const found = await call("POST", streamPath(stream, "/withdraw"), { source }, { timeout: 120000 });
      const kept = found.kept ? ` ${plural(found.kept, "instance")} had been decided and ${found.kept === 1 ? "stays" : "stay"} in the log.` : "";
      put(said, el("p", {}, `Withdrawn: ${plural(found.withdrawn, "instance")}${found.dropped ? `, and ${plural(found.dropped, "question")} dropped` : ""}.${kept}`));
      say("Withdrawn.");
    } catch (error) {
      put(said, problem(words(error)));
    }
    await show();
  }

  async function show() {
    const found = await call("GET", streamPath(stream, "/sources")).catch(() => []);
    element.hidden = !found.length && !said.childNodes.length;
    put(list, found.map(({ source, waiting }) => el("li", { class: "row" }, el("span", { class: "name" }, el("bdi", {}, source), el("span", { class: "read" }, ` ${count(waiting)} waiting`)),
      el("button", { type: "button", class: "small", onclick: () => withdraw(source) }, "Withdraw", el("span", { class: "unseen" }, ` ${source}`)))));
  }

  return { element, show };
}
