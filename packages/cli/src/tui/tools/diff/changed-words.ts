/** A piece of a line, and whether it differs from the other line. */
export interface LinePart {
  text: string;
  isChanged: boolean;
}

// Longer lines are compared with the square of this.
const MAX_WORDS = 200;
// Lines that have less in common are two lines and no changed one.
const MIN_COMMON_SHARE = 0.4;

/** Which words differ between two lines; undefined where they have little in common. */
export function findChangedWords(
  before: string,
  after: string,
): { before: LinePart[]; after: LinePart[] } | undefined {
  const [old, current] = [splitWords(before), splitWords(after)];
  if (old.length > MAX_WORDS || current.length > MAX_WORDS) return undefined;
  const common = findCommon(old, current);
  const size = (words: readonly string[]) => words.join("").replace(/\s/g, "").length;
  const commonSize = size(old.filter((_, index) => common.old.has(index)));
  const longest = Math.max(size(old), size(current));
  if (longest === 0 || commonSize / longest < MIN_COMMON_SHARE) return undefined;
  return { before: toParts(old, common.old), after: toParts(current, common.current) };
}

function splitWords(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The longest common subsequence, as positions in both. */
function findCommon(
  old: readonly string[],
  current: readonly string[],
): { old: Set<number>; current: Set<number> } {
  const columns = current.length + 1;
  const lengths = new Uint16Array((old.length + 1) * columns);
  const lengthAt = (row: number, column: number) => lengths[row * columns + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = current.length - 1; column >= 0; column--) {
      lengths[row * columns + column] =
        old[row] === current[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
    }
  }
  const common = { old: new Set<number>(), current: new Set<number>() };
  for (let row = 0, column = 0; row < old.length && column < current.length; ) {
    if (old[row] === current[column]) {
      common.old.add(row++);
      common.current.add(column++);
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row++;
    else column++;
  }
  return common;
}

function toParts(words: readonly string[], common: ReadonlySet<number>): LinePart[] {
  const parts: LinePart[] = [];
  words.forEach((text, index) => {
    const last = parts.at(-1);
    // A blank between two changed words belongs to them.
    const isBetween =
      text.trim() === "" && last?.isChanged === true && index + 1 < words.length && !common.has(index + 1);
    const isChanged = !common.has(index) || isBetween;
    if (last?.isChanged === isChanged) last.text += text;
    else parts.push({ text, isChanged });
  });
  return parts;
}
