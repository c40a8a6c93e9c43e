/** Letters, digits, white space and other characters: tokenizers join no two of these, a leading space or sign aside. */
const GROUPS = /(\p{L}[\p{L}\p{M}]*)|(\p{N}+)|(\s+)|([^\p{L}\p{N}\s]+)/gu;

// A word without any dictionary form, such as a hash or base64: letters and digits in turn.
const SCRAMBLED = /[A-Za-z0-9+/_=-]{16,}/g;

/**
 * Estimates the tokens of a text from its words, as tokenizers with a large vocabulary split them: within a few percent
 * of them for prose, code, JSON and the output of programs, whereas a ratio of characters differs by a factor of two
 * between these.
 */
export function estimateTextTokens(text: string): number {
  let tokens = 0;
  const rest = text.replace(SCRAMBLED, (word) => {
    if (!isScrambled(word)) return word;
    tokens += word.length / (/[a-z]/.test(word) && /[A-Z]/.test(word) ? 1.45 : 1.65);
    return " ";
  });
  let before: "word" | "signs" | undefined;
  let space: string | undefined;
  for (const [, letters, digits, blank, signs] of rest.matchAll(GROUPS)) {
    if (blank !== undefined) {
      space = blank;
      continue;
    }
    if (space !== undefined) tokens += countSpace(space, { before, hasDigitsNext: digits !== undefined });
    // One sign often begins the token of the next word, such as `.name` or `"name`.
    else if (before === "signs" && letters !== undefined) tokens -= 0.25;
    if (letters !== undefined) tokens += countWord(letters);
    else if (digits !== undefined) tokens += Math.ceil(digits.length / 3);
    else if (signs !== undefined) tokens += countSigns(signs);
    before = signs === undefined ? "word" : "signs";
    space = undefined;
  }
  return Math.max(0, tokens);
}

function isScrambled(word: string): boolean {
  const changes = word.match(/[0-9](?=[A-Za-z])|[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])/g)?.length ?? 0;
  return changes >= word.length / 6;
}

const ASCII = /^[A-Za-z]+$/;
const CAMEL_PARTS = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

function countWord(word: string): number {
  if (!ASCII.test(word)) return DENSE.test(word) ? word.length * 0.72 : Math.max(1, word.length / 4.2);
  let tokens = 0;
  for (const [part] of word.matchAll(CAMEL_PARTS)) tokens += countPart(part);
  return tokens;
}

function countPart(part: string): number {
  const { length } = part;
  if (length > 1 && part === part.toUpperCase()) return length <= 3 ? 1 : length / 2.8;
  return length <= 9 ? 1 : 1 + (length - 9) / 8;
}

/** A space before a word belongs to it; a line end belongs to the signs before it. */
function countSpace(
  space: string,
  { before, hasDigitsNext }: { before: "word" | "signs" | undefined; hasDigitsNext: boolean },
): number {
  const lineEnd = Math.max(space.lastIndexOf("\n"), space.lastIndexOf("\r"));
  const indent = space.length - 1 - lineEnd;
  const hasOwnIndent = indent > 1 || (indent === 1 && hasDigitsNext);
  const lines = lineEnd < 0 || before === "signs" ? 0 : 1;
  return lines + (hasOwnIndent ? 1 : 0);
}

function countSigns(signs: string): number {
  return signs.length <= 3 ? 1 : 1 + (signs.length - 3) / 4;
}
