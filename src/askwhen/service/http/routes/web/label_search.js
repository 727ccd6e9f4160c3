// Which labels are meant by what is typed: words in any order, also by the beginnings of their parts.

const parts = (text) => text.toLocaleLowerCase().replaceAll(/[_\-./:]+/gu, " ").split(/\s+/u).filter(Boolean);

// The labels that have all typed words in them, the likeliest first: the very label, then those that begin with what is
// typed, then those of which parts begin with the words.
export function found(labels, text) {
  const typed = text.trim().toLocaleLowerCase();
  const words = parts(typed);
  const rank = (label) => {
    const small = label.toLocaleLowerCase();
    const inside = parts(label);
    if (label === text.trim()) return 0;
    if (small === typed) return 1;
    if (!words.every((word) => small.includes(word))) return small.includes(typed) ? 4 : 5;
    if (small.startsWith(typed)) return 2;
    return words.every((word) => inside.some((part) => part.startsWith(word))) ? 3 : 4;
  };
  const ranks = labels.map((label) => [rank(label), label]).filter(([each]) => each < 5);
  return ranks.sort((a, b) => a[0] - b[0]).map(([, label]) => label);
}
