import type { Chance } from "./chance.ts";

/** Surrounds every sequence, so that one that got through can be distinguished from our own. */
const EDGE = "ж";

const SEQUENCES: readonly [string, ...string[]] = [
  "\x1b[2J",
  "\x1b[3J",
  "\x1b[H",
  "\x1b[6n",
  "\x1b[c",
  "\x1b[31m",
  "\x1b[?1049h",
  "\x1b[?1000h",
  "\x1b[K",
  "\x1b[10A",
  "\x1b[8;5;5t",
  "\x1b[21t",
  "\x1b]0;title\x07",
  "\x1b]2;title\x1b\\",
  "\x1b]8;;http://evil.example\x1b\\",
  "\x1b]8;;",
  "\x1b]52;c;ZXZpbA==\x07",
  "\x1b]52;c;ZXZpbA==",
  "\x1b]10;?\x07",
  '\x1bP$q"p\x1b\\',
  "\x1bP+q544e\x1b\\",
  "\x1bP",
  "\x1b_Gi=1,a=q;AAAA\x1b\\",
  "\x1b_",
  "\x1b^private\x1b\\",
  "\x1bXstart\x1b\\",
  "\x1bc",
  "\x1b(0",
  "\x1b#8",
  "\x1b",
  "\u009b2J",
  "\u009b6n",
  "\u009d0;title\u009c",
  "\u009d52;c;ZXZpbA==\u0007",
  "\u0090$q\u009c",
  "\u0085",
  "\x07",
  "\x08\x08\x08\x08",
  "\x0e",
  "\x00",
  "\x7f",
  "\r",
  "\v\f",
  "\u202egnp",
  "\u2066\u2069",
  "\u200b",
  "\u200e",
  "\u2028",
  "\ufeff",
  "\ud800",
  "\u{e0041}",
];

const FILLING: readonly [string, ...string[]] = [
  "word",
  " ",
  "**",
  "`",
  "# ",
  "日本",
  "👩‍👩‍👧",
  "e\u0301",
  "[a](b)",
  "\t",
];

/** Sequences that would control a terminal, within text. Without line feeds if `isOneLine`. */
export function hostileText(chance: Chance, { pieces = 6, isOneLine = false } = {}): string {
  const parts = Array.from({ length: pieces }, () => {
    const filling = !isOneLine && chance.between(0, 3) === 0 ? "\n" : chance.pick(FILLING);
    return `${EDGE}${chance.pick(SEQUENCES)}${EDGE}${filling}`;
  });
  return parts.join("");
}

/** Like `hostileText`, as a valid file name. */
export function hostileFileName(chance: Chance): string {
  return hostileText(chance, { pieces: 2, isOneLine: true })
    .toWellFormed()
    .replaceAll(/[/\0]/g, "_")
    .slice(0, 60)
    .trim();
}

/** The hostile sequences that reached a terminal unescaped; empty if all were made harmless. */
export function findEscaped(bytes: string): string[] {
  const acting = SEQUENCES.filter((sequence) => sequence.isWellFormed());
  return acting
    .filter((sequence) => bytes.includes(EDGE + sequence + EDGE))
    .map((sequence) => JSON.stringify(sequence));
}
