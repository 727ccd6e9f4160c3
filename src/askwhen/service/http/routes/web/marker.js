// A worker that finds the matches of a pattern in a text.

onmessage = ({ data: { text, pattern, flags, most } }) => {
  const places = [];
  for (const match of text.matchAll(new RegExp(pattern, flags))) {
    if (match[0]) places.push([match.index, match.index + match[0].length]);
    if (places.length >= most) break;
  }
  postMessage(places);
};
postMessage("ready");
