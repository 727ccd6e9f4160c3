// A window that finds one label among many by what is typed.

import { el, put } from "./dom.js";

const MOST = 50;

export function found(labels, text) {
  const wanted = text.trim().toLocaleLowerCase();
  const rank = (label) => {
    const small = label.toLocaleLowerCase();
    return label === text.trim() ? 0 : small === wanted ? 1 : small.startsWith(wanted) ? 2 : small.includes(wanted) ? 3 : 4;
  };
  const ranks = labels.map((label) => [rank(label), label]).filter(([each]) => each < 4);
  return ranks.sort((a, b) => a[0] - b[0]).map(([, label]) => label).slice(0, MOST);
}

export function search(labels, open, chosen) {
  let listed = [];
  let at = -1; // none, until something is typed or an arrow is pressed
  const field = el("input", {
    id: "search", type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "found", autocomplete: "off",
    "aria-autocomplete": "list", spellcheck: "false", dir: "auto",
  });
  const list = el("ul", { id: "found", role: "listbox", "aria-label": "Labels found" });
  const none = el("p", { class: "read", role: "status" });
  const box = el("dialog", { class: "search", "aria-labelledby": "search-title" },
    el("h2", { id: "search-title" }, "Search a label"),
    el("label", { for: "search" }, open ? "Type a label; a new one may be given" : "Type a part of it"), field, none, list,
    el("button", { type: "button", onclick: () => box.close() }, "Cancel"));

  function take(label) {
    box.close();
    chosen(label);
  }

  function show() {
    const text = field.value.trim();
    listed = found(labels, text);
    if (open && text && !labels.includes(text)) {
      const same = listed.length && listed[0].toLocaleLowerCase() === text.toLocaleLowerCase();
      listed.splice(same ? 1 : 0, 0, text);
    }
    at = Math.min(at, listed.length - 1);
    put(list, listed.map((label, i) => el("li", {
      id: `found-${i}`, role: "option", "aria-selected": String(i === at), dir: "auto", onclick: () => take(label),
    }, label, !labels.includes(label) && el("span", { class: "tag" }, "new"))));
    put(none, listed.length ? "" : text ? "No label has this in it." : "No label was given yet: type the first one.");
    list.hidden = !listed.length;
    if (at >= 0) field.setAttribute("aria-activedescendant", `found-${at}`);
    else field.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  field.addEventListener("input", () => { at = field.value.trim() ? 0 : -1; show(); });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      at = event.key === "ArrowDown" ? (at + 1) % Math.max(listed.length, 1) : (at <= 0 ? listed.length : at) - 1;
      show();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (at >= 0) take(listed[at]);
    }
  });
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  show();
  box.showModal();
  field.focus();
}
