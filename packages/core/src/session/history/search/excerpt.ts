const CHARACTERS_BEFORE = 60;
const CHARACTERS_BEHIND = 160;

/** The text around the first of the words, on one line. Case and diacritics make no difference, as in the index. */
export function excerpt(text: string, words: readonly string[]): string {
  const start = findFirst(text, words);
  const from = Math.max(0, start - CHARACTERS_BEFORE);
  const to = Math.min(text.length, start + CHARACTERS_BEHIND);
  const shown = text.slice(from, to).toWellFormed().replace(/\s+/g, " ").trim();
  return `${from > 0 ? "…" : ""}${shown}${to < text.length ? "…" : ""}`;
}

function findFirst(text: string, words: readonly string[]): number {
  const { folded, offsets } = fold(text);
  const found = words.map((word) => findWord(folded, fold(word).folded)).filter((at) => at >= 0);
  if (found.length === 0) return 0;
  const first = Math.min(...found);
  return offsets?.[first] ?? first;
}

/** Where a word stands by itself, else where one begins with it, else where it is at all; -1 if it is not there. */
function findWord(folded: string, word: string): number {
  // The index separates words at all other characters, so `a.b` is also found as `a b`.
  const parts = word.match(/[\p{L}\p{N}]+/gu);
  if (!parts) return -1;
  const pattern = parts.join("[^\\p{L}\\p{N}]+");
  for (const [before, behind] of [
    ["(?<![\\p{L}\\p{N}])", "(?![\\p{L}\\p{N}])"],
    ["(?<![\\p{L}\\p{N}])", ""],
  ]) {
    const at = folded.search(new RegExp(`${before}${pattern}${behind}`, "u"));
    if (at >= 0) return at;
  }
  return folded.indexOf(word);
}

/** In lower case and without diacritics; `offsets` has the place of each character in the text unless it is the same. */
function fold(text: string): { folded: string; offsets?: number[] } {
  if (/^\p{ASCII}*$/u.test(text)) return { folded: text.toLowerCase() };
  const offsets: number[] = [];
  let folded = "";
  let at = 0;
  for (const character of text) {
    const plain = character.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    for (let unit = 0; unit < plain.length; unit++) offsets.push(at);
    folded += plain;
    at += character.length;
  }
  return { folded, offsets };
}
