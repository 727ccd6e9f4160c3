// A button that acts when it is pressed twice, so that a slip does nothing.

import { el, put } from "./dom.js";

// `verb` is on the button, `of` says to screen readers what it is about; `act` is called at the second press.
export function twice(verb, of, act) {
  const about = () => el("span", { class: "unseen" }, ` ${of}`);
  const button = el("button", { type: "button", class: "quiet" }, verb, about());
  let sure = false;
  button.addEventListener("blur", () => {
    sure = false;
    put(button, verb, about());
  });
  button.addEventListener("click", async (event) => {
    if (!sure) {
      sure = true;
      put(button, "Really?", el("span", { class: "unseen" }, ` ${verb} ${of}`));
      return;
    }
    if (event.detail > 1) return; // a double click is one slip
    await act();
  });
  return button;
}
