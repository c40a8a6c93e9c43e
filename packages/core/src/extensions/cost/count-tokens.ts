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
  return Math.max(0, tokens + (PLAIN.test(rest) ? countPlain(rest) : countAny(rest)));
}

const PLAIN = /^[\0-\x7f]*$/;

function countAny(rest: string): number {
  let tokens = 0;
  let before: "word" | "signs" | undefined;
  let space: string | undefined;
  for (const [, letters, digits, blank, signs] of rest.matchAll(GROUPS)) {
    if (blank !== undefined) {
      space = blank;
      continue;
    }
    if (space !== undefined) {
      const lineEnd = Math.max(space.lastIndexOf("\n"), space.lastIndexOf("\r"));
      tokens += countGap({ length: space.length, lineEnd }, { before, hasDigitsNext: digits !== undefined });
    }
    // One sign often begins the token of the next word, such as `.name` or `"name`.
    else if (before === "signs" && letters !== undefined) tokens -= 0.25;
    if (letters !== undefined) tokens += countWord(letters);
    else if (digits !== undefined) tokens += Math.ceil(digits.length / 3);
    else if (signs !== undefined) tokens += countSigns(signs.length);
    before = signs === undefined ? "word" : "signs";
    space = undefined;
  }
  return tokens;
}

/** The same for ASCII, as nearly all texts are: without regular expressions it takes a fifth of the time. */
function countPlain(text: string): number {
  let tokens = 0;
  let before: "word" | "signs" | undefined;
  let space: { length: number; lineEnd: number } | undefined;
  for (let at = 0; at < text.length; ) {
    const start = at;
    const group = GROUP_OF[text.charCodeAt(at)];
    let lineEnd = -1;
    do {
      const code = text.charCodeAt(at);
      if (code === LINE_FEED || code === CARRIAGE_RETURN) lineEnd = at - start;
      at += 1;
    } while (at < text.length && GROUP_OF[text.charCodeAt(at)] === group);
    const length = at - start;
    if (group === SPACE) {
      space = { length, lineEnd };
      continue;
    }
    if (space !== undefined) tokens += countGap(space, { before, hasDigitsNext: group === DIGIT });
    else if (before === "signs" && group === LETTER) tokens -= 0.25;
    if (group === LETTER) tokens += countLetters(text, start, at);
    else tokens += group === DIGIT ? Math.ceil(length / 3) : countSigns(length);
    before = group === SIGN ? "signs" : "word";
    space = undefined;
  }
  return tokens;
}

const [LETTER, DIGIT, SPACE, SIGN] = [0, 1, 2, 3];
const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

/** The group of each character of ASCII. */
const GROUP_OF = Uint8Array.from({ length: 128 }, (_, code) => {
  if (isLower(code) || isUpper(code)) return LETTER;
  if (code >= 48 && code <= 57) return DIGIT;
  return code === 32 || (code >= 9 && code <= 13) ? SPACE : SIGN;
});

function isLower(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

/** The parts of a word in camel case, as `CAMEL_PARTS` finds them. */
function countLetters(text: string, start: number, end: number): number {
  let tokens = 0;
  for (let at = start; at < end; ) {
    const from = at;
    while (at < end && isUpper(text.charCodeAt(at))) at += 1;
    const capitals = at - from;
    while (at < end && isLower(text.charCodeAt(at))) at += 1;
    const small = at - from - capitals;
    // The last capital before small letters belongs to them.
    const joined = small > 0 && capitals > 0 ? 1 : 0;
    if (capitals > joined) tokens += countPart(capitals - joined, capitals - joined > 1);
    if (small > 0) tokens += countPart(small + joined, false);
  }
  return tokens;
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
  for (const [part] of word.matchAll(CAMEL_PARTS))
    tokens += countPart(part.length, part.length > 1 && part === part.toUpperCase());
  return tokens;
}

function countPart(length: number, isCapitals: boolean): number {
  if (isCapitals) return length <= 3 ? 1 : length / 2.8;
  return length <= 9 ? 1 : 1 + (length - 9) / 8;
}

/** A space before a word belongs to it; a line end belongs to the signs before it. */
function countGap(
  { length, lineEnd }: { length: number; lineEnd: number },
  { before, hasDigitsNext }: { before: "word" | "signs" | undefined; hasDigitsNext: boolean },
): number {
  const indent = length - 1 - lineEnd;
  const hasOwnIndent = indent > 1 || (indent === 1 && hasDigitsNext);
  const lines = lineEnd < 0 || before === "signs" ? 0 : 1;
  return lines + (hasOwnIndent ? 1 : 0);
}

function countSigns(length: number): number {
  return length <= 3 ? 1 : 1 + (length - 3) / 4;
}
