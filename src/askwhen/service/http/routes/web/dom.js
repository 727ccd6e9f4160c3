// Elements from data. Texts become text nodes and nothing else: no function here takes markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, given, children) {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

export function el(tag, given, ...children) {
  return fill(document.createElement(tag), given, children);
}

export function svg(tag, given, ...children) {
  return fill(document.createElementNS(SVG, tag), given, children);
}

export function put(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return place;
}

// Said to screen readers: the same sentence twice in a row is still said twice.
function tell(id, text) {
  const place = document.getElementById(id);
  place.textContent = "";
  setTimeout(() => { place.textContent = text; }, 30);
}

export const say = (text) => tell("said", text);
export const warn = (text) => tell("warned", text);

export function percent(value, digits = 1) {
  return value === null || value === undefined ? "unknown" : `${(100 * value).toFixed(digits)} %`;
}

export function count(value) {
  return value === null || value === undefined ? "unknown" : value.toLocaleString("en");
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "unknown";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");
}
