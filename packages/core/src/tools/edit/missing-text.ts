import { toLineFeeds } from "./lines.ts";
import type { EditRequest } from "./plan-edit.ts";

// A shorter text could match by chance.
const MIN_SEARCHED_CHARS = 10;
const MAX_NORMALISED_CHARS = 4 * 1024 * 1024;

/** What the texts are called in messages. */
interface TextNames {
  old: string;
  replacement: string;
}

/** The error for a text that a file does not have: it shows what the file has instead, so that the next try can be right. */
export function missingTextError(
  path: string,
  text: string,
  { oldText, newText }: Pick<EditRequest, "oldText" | "newText">,
  { old, replacement }: TextNames = { old: "old_string", replacement: "new_string" },
): Error {
  const view = toLineFeeds(text);
  const hints = [
    numberedHint(oldText, old),
    alreadyThereHint(view, toLineFeeds(newText), replacement),
    normalFormHint(view, toLineFeeds(oldText)),
    describeNearestText(view, toLineFeeds(oldText), old),
  ].filter((hint) => hint !== undefined);
  if (hints.length === 0)
    hints.push("Nothing in it is similar. Read the file again and copy the text from there.");
  return new Error([`${old} was not found in ${path}; nothing was changed.`, ...hints].join("\n"));
}

function numberedHint(oldText: string, name: string): string | undefined {
  const lines = oldText.split("\n").filter((line) => line.trim() !== "");
  if (!lines.every((line) => /^\s*\d+\t/.test(line))) return undefined;
  return `${name} seems to contain the line numbers that read puts in front. Leave them out, with the tab.`;
}

function normalFormHint(view: string, oldText: string): string | undefined {
  if (view.length > MAX_NORMALISED_CHARS || !view.normalize("NFC").includes(oldText.normalize("NFC")))
    return undefined;
  return "The same letters are there, but their accents are encoded another way (Unicode normal form): change it with bash.";
}

function alreadyThereHint(view: string, newText: string, name: string): string | undefined {
  if (newText.trim().length < MIN_SEARCHED_CHARS) return undefined;
  const at = view.indexOf(newText);
  if (at === -1) return undefined;
  return `${name} already exists, at line ${view.slice(0, at).split("\n").length}: this edit may have been made before.`;
}

const MAX_WANTED_CHARS = 128 * 1024;
const MAX_COMPARED_CHARS = 4 * 1024 * 1024;
const MAX_LINE_CHARS = 500;
const MAX_SHOWN_LINES = 12;
const MAX_SHOWN_CHARS = 200;
// Below this share of common words, the match is too weak to suggest.
const MIN_SHARE = 0.3;
const EXCERPT_BEFORE = 30;
const EXCERPT_CHARS = 100;

/**
 * Describes the part of `text` (LF line ends) that is most similar to `wanted`, for a model that has to correct
 * `wanted`; undefined when nothing is similar. One pass over at most 4 MB.
 */
function describeNearestText(text: string, wanted: string, name: string): string | undefined {
  const wantedLines = wanted.slice(0, MAX_WANTED_CHARS).split("\n");
  const lines = text.slice(0, MAX_COMPARED_CHARS).split("\n");
  const first = findNearestLine(lines, wantedLines);
  const isLong = first !== undefined && lines.slice(first, first + wantedLines.length).some(isLongLine);
  if (first === undefined || isLong) return describeCommonStart(text, wanted, name);
  const nearest = lines.slice(first, first + wantedLines.length);
  const shown = nearest
    .slice(0, MAX_SHOWN_LINES)
    .map((line, index) => `${first + index + 1}\t${line.slice(0, MAX_SHOWN_CHARS)}`);
  if (nearest.length > shown.length) shown.push("…");
  return [
    `The nearest text begins at line ${first + 1}:`,
    ...shown,
    ...firstDifference(nearest, wantedLines, { first, name }),
  ].join("\n");
}

function isLongLine(line: string): boolean {
  return line.length > MAX_LINE_CHARS;
}

/**
 * Each word that a line shares with a wanted line votes for the corresponding position of the text; an index from 0.
 */
function findNearestLine(lines: readonly string[], wantedLines: readonly string[]): number | undefined {
  const wantedWords = indexWords(wantedLines);
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    for (const word of new Set(wordsOf(line))) {
      for (const wantedIndex of wantedWords.get(word) ?? []) {
        const first = Math.max(0, index - wantedIndex);
        votes.set(first, (votes.get(first) ?? 0) + word.length);
      }
    }
  }
  let best: [number, number] | undefined;
  for (const vote of votes) if (!best || vote[1] > best[1]) best = vote;
  const all = [...wantedWords].reduce((sum, [word, indices]) => sum + word.length * indices.length, 0);
  return best && best[1] >= all * MIN_SHARE ? best[0] : undefined;
}

/** Maps each word to the wanted lines that contain it; only the first few for a very frequent word. */
function indexWords(lines: readonly string[]): Map<string, number[]> {
  const words = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    for (const word of new Set(wordsOf(line))) {
      const indices = words.get(word) ?? [];
      if (indices.length < 3) words.set(word, [...indices, index]);
    }
  }
  return words;
}

function wordsOf(line: string): string[] {
  return line.slice(0, MAX_LINE_CHARS).match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
}

function firstDifference(
  nearest: readonly string[],
  wantedLines: readonly string[],
  { first, name }: { first: number; name: string },
): string[] {
  const index = wantedLines.findIndex((line, at) => line !== nearest[at]);
  const wanted = wantedLines[index] ?? "";
  const actual = nearest[index];
  if (actual === undefined) return [`The file ends there, ${name} continues.`];
  const column = commonStart(wanted, actual);
  return [
    `First difference, in line ${first + index + 1}: ${name} has ${excerpt(wanted, column)}, the file has ${excerpt(actual, column)}.`,
  ];
}

function commonStart(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
}

/** As a JSON string, so that different white space is visible. */
function excerpt(text: string, at: number): string {
  const start = Math.max(0, at - EXCERPT_BEFORE);
  return JSON.stringify(text.slice(start, start + EXCERPT_CHARS).toWellFormed());
}

/** For long lines: how much of the beginning matches, and how the file continues. */
function describeCommonStart(text: string, wanted: string, name: string): string | undefined {
  let [found, missing] = [0, wanted.length];
  while (missing - found > 1) {
    const middle = (found + missing) >> 1;
    if (text.includes(wanted.slice(0, middle))) found = middle;
    else missing = middle;
  }
  if (found < Math.min(8, wanted.length / 2)) return undefined;
  const at = text.indexOf(wanted.slice(0, found));
  const line = text.slice(0, at).split("\n").length;
  return (
    `Its first ${found} characters are in line ${line}, then it differs: ` +
    `${name} has ${excerpt(wanted, found)}, the file has ${excerpt(text.slice(at, at + found + EXCERPT_CHARS), found)}.`
  );
}
