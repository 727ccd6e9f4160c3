// A little Markdown as elements. Texts become text nodes: HTML in guidelines is shown as it is written.

import { el } from "./dom.js";

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s](?:[^*]*[^*\s])?)\*|\[([^\]]+)\]\(([^()\s]+)\)/u;
const BLOCKS = [[/^(#{1,4})\s+(.*)$/u, "heading"], [/^\s*[-*+]\s+(.*)$/u, "ul"], [/^\s*\d+[.)]\s+(.*)$/u, "ol"], [/^>\s?(.*)$/u, "blockquote"]];

function link(text, address) {
  let found = null;
  try {
    found = new URL(address);
  } catch {
    // no address: shown as it is written
  }
  if (!found || !["http:", "https:", "mailto:"].includes(found.protocol)) return `[${text}](${address})`;
  return el("a", { href: found.href, target: "_blank", rel: "noopener noreferrer" }, text);
}

function inline(text) {
  const made = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    const [all, code, bold, italic, label, address] = found;
    made.push(rest.slice(0, found.index), code ? el("code", {}, code) : bold ? el("strong", {}, inline(bold)) : italic ? el("em", {}, inline(italic)) : link(label, address));
    rest = rest.slice(found.index + all.length);
  }
  return [...made, rest];
}

// What a line is, and the text inside: a paragraph, unless it begins with a sign.
function kindOf(line) {
  for (const [pattern, kind] of BLOCKS) {
    const found = pattern.exec(line);
    if (found) return kind === "heading" ? [`h${found[1].length + 2}`, found[2]] : [kind, found[1]];
  }
  return ["p", line];
}

export function rendered(markdown) {
  const blocks = [];
  let last = null; // the block that the next line may belong to
  for (const line of markdown.replaceAll("\r", "").split("\n")) {
    if (!line.trim()) {
      last = null;
      continue;
    }
    const [kind, text] = kindOf(line);
    if (kind === last?.kind && !kind.startsWith("h")) last.lines.push(text);
    else blocks.push(last = { kind, lines: [text] });
  }
  return blocks.map(({ kind, lines }) => (["ul", "ol"].includes(kind) ? el(kind, {}, lines.map((each) => el("li", {}, inline(each)))) : el(kind, {}, inline(lines.join("\n")))));
}
