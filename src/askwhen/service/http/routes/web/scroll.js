// Keys that scroll go to a long text wherever the focus is.

const STEP = 48;

// Scroll the first part of a place that is longer than it shows; whether the key was one for that.
export function scrolled(event, place) {
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return false;
  if (event.target.closest?.("input, textarea, select, audio, .part, [contenteditable]")) return false;
  if (event.key === " " && event.target.closest?.("button, a, summary")) return false;
  const part = [...place.querySelectorAll(".part")].find((each) => each.scrollHeight > each.clientHeight + 1);
  if (!part) return false;
  const screen = 0.9 * part.clientHeight;
  const by = { ArrowDown: STEP, ArrowUp: -STEP, PageDown: screen, PageUp: -screen, " ": event.shiftKey ? -screen : screen,
    Home: -part.scrollHeight, End: part.scrollHeight };
  if (!Object.hasOwn(by, event.key)) return false;
  event.preventDefault();
  part.scrollTop += by[event.key];
  return true;
}
