import { shownText } from "./written-rows.ts";

// Up to so many rows a paragraph stays as it is; of a longer one the last are kept, since the next words change them.
const MOST_ROWS = 8;
const KEPT_ROWS = 3;

/** Lines of a paragraph and of nothing else; none is blank. */
const PLAIN_LINES = /^(?:(?! {0,3}\d{1,9}[.)][ \t])(?: {0,3}[\p{L}\p{N}`"'(*_][^\n|]*)(?:\n|$))+$/u;
/** What may still pair with something that follows. */
const MARKS = ["`", "*", "_", "~"];

/**
 * Where the first rows of a long paragraph that is still coming can be divided from the rest, at a word: both render as they
 * do together. `rows` are those in front of the place. Undefined where it is short, or not surely divided there.
 */
export function cutParagraph(
  markdown: string,
  render: (markdown: string) => string[],
): { at: number; rows: string[] } | undefined {
  if (!PLAIN_LINES.test(markdown)) return undefined;
  const all = render(markdown);
  if (all.length <= MOST_ROWS) return undefined;
  const rows = all.slice(0, -KEPT_ROWS);
  const at = findWordBehind(markdown, shownText(rows).length, render);
  const [head, rest] = [markdown.slice(0, at), markdown.slice(at)];
  if (!isBalanced(head) || !PLAIN_LINES.test(rest)) return undefined;
  const isSame = isEqual(render(head), rows) && isEqual(render(rest), all.slice(-KEPT_ROWS));
  return isSame ? { at, rows } : undefined;
}

/** The first word in front of which so much is shown. */
function findWordBehind(markdown: string, shown: number, render: (markdown: string) => string[]): number {
  const words = [...markdown.matchAll(/\s\S/g)].map(({ index }) => index + 1);
  let [low, high] = [0, words.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBehind = shownText(render(markdown.slice(0, words[middle]))).length >= shown;
    if (isBehind) high = middle;
    else low = middle + 1;
  }
  return words[low] ?? markdown.length;
}

function isBalanced(text: string): boolean {
  const count = (mark: string) => text.split(mark).length - 1;
  const arePaired = MARKS.every((mark) => count(mark) % 2 === 0);
  return arePaired && count("[") === count("]") && count("(") === count(")") && count("<") === count(">");
}

function isEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((row, at) => row === others[at]);
}
