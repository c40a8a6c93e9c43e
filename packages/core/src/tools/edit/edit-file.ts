import { decodeUtf8, type TextContent } from "../../infrastructure/text/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import { missingFileError } from "../missing-file.ts";
import type { EditArguments } from "../parameters.ts";
import { type ApprovedTarget, displayPath } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { toLineFeeds } from "./lines.ts";
import { type EditOutcome, type EditRequest, planEdit } from "./plan-edit.ts";
import { createUnifiedDiff } from "./unified-diff.ts";
import {
  assertNoPlaceholders,
  assertWholeCharacters,
  changedError,
  changeTarget,
  openSeenFile,
  previewChange,
  saveChange,
  type TargetLocation,
} from "./write-file.ts";

// Enough to see whether a loose match was the intended one.
const MAX_SHOWN_DIFF_LINES = 24;

/** @throws Error for arguments that change nothing or cannot be written. */
export function toEditRequest({ old_string, new_string, replace_all }: EditArguments): EditRequest {
  assertWholeCharacters("old_string", old_string);
  assertWholeCharacters("new_string", new_string);
  // The byte order mark, which the read tool leaves out.
  const oldText = old_string.replace(/^\ufeff/, "");
  if (oldText === "") {
    throw new Error(
      "old_string is empty. Give the text to replace; to make a file or replace all of it, use write.",
    );
  }
  if (old_string === new_string)
    throw new Error("old_string and new_string are the same, so there is nothing to change.");
  return { oldText, newText: new_string, replaceAll: replace_all ?? false };
}

/** Applies an edit. @throws Error that says why it failed; the file is unchanged then. */
export async function editFile(
  workspace: Workspace,
  location: TargetLocation,
  request: EditRequest,
): Promise<ToolResult> {
  const { target, before, after, outcome, hasChanged, seen } = await changeTarget(location, (located) => {
    const planned = planFileEdit(workspace, located, request);
    const seen = workspace.files.lastContent(located.realPath);
    saveChange(workspace, located, planned.after);
    return { target: located, seen, ...planned };
  });
  const shownPath = displayPath(workspace, target.path);
  const { diff, added, removed, firstLine } = await createUnifiedDiff(shownPath, before.text, after.text);
  const metadata = { diff, added, removed, firstLine, matchLine: outcome.firstLine };
  const others = hasChanged ? await describeOtherChanges(shownPath, seen, before.text) : "";
  return { output: describe(target.path, outcome, diff) + others, metadata };
}

/** For the model: what was changed by others since it saw the file. */
async function describeOtherChanges(
  shownPath: string,
  seen: Uint8Array | undefined,
  now: string,
): Promise<string> {
  const lead = "\nThe file had changed since it was read; old_string was not affected.";
  const { diff } = await createUnifiedDiff(shownPath, seen ? decodeUtf8(seen).text : now, now);
  const lines = diff.split("\n").slice(2);
  if (lines.length === 0) return `${lead} Read it again before you rely on its other parts.`;
  const shown = lines.slice(0, MAX_SHOWN_DIFF_LINES);
  const more =
    lines.length > shown.length ? [`… ${lines.length - shown.length} more lines; read it again.`] : [];
  return [`${lead} These were the changes:`, ...shown, ...more].join("\n");
}

/** See `previewChange`. */
export function previewEdit(
  workspace: Workspace,
  target: ApprovedTarget,
  request: EditRequest,
): Promise<string | undefined> {
  return previewChange(workspace, {
    path: target.path,
    sizes: [target.stats?.size ?? 0],
    plan() {
      const { before, after } = planFileEdit(workspace, target, request);
      return { before: before.text, after: after.text };
    },
  });
}

interface FileEdit {
  before: TextContent;
  after: TextContent;
  outcome: EditOutcome & { kind: "edited" };
  /** True if the file is not as the session saw it last. */
  hasChanged: boolean;
}

function planFileEdit(workspace: Workspace, target: ApprovedTarget, request: EditRequest): FileEdit {
  if (!target.stats) throw missingFileError(workspace, target);
  const { content: before, hasChanged } = openSeenFile(workspace, target, target.stats);
  const texts = { old_string: request.oldText, new_string: request.newText };
  assertNoPlaceholders(workspace, { path: target.path, before: before.text, texts });
  const outcome = planEdit(before.text, request);
  const isUnaffected = outcome.kind === "edited" && outcome.isExact && outcome.count === 1;
  if (hasChanged && !(isUnaffected && !request.replaceAll)) throw changedError(target.path);
  if (outcome.kind === "missing") throw missingTextError(target.path, before.text, request);
  if (outcome.kind === "ambiguous") throw ambiguousError(target.path, outcome);
  if (outcome.text === before.text) {
    throw new Error(`${target.path} already has new_string in that place; there is nothing to change.`);
  }
  return { before, after: { ...before, text: outcome.text }, outcome, hasChanged };
}

function describe(path: string, outcome: EditOutcome & { kind: "edited" }, diff: string): string {
  const { count, firstLine, isExact } = outcome;
  const what = count === 1 ? `line ${firstLine}` : `${count} replacements, the first in line ${firstLine}`;
  if (isExact) return `Edited ${path} (${what}).`;
  const changes = diff.split("\n").slice(2, 2 + MAX_SHOWN_DIFF_LINES);
  return [
    `Edited ${path} (${what}). old_string was not in the file exactly: white space, quotes, dashes or line ends differed.`,
    "Check that this is what you meant:",
    ...changes,
  ].join("\n");
}

// A shorter text could match by chance.
const MIN_SEARCHED_CHARS = 10;
const MAX_NORMALISED_CHARS = 4 * 1024 * 1024;

/** For the model; `path` is absolute. */
function ambiguousError(path: string, { count, lines, isExact }: EditOutcome & { kind: "ambiguous" }): Error {
  const more = count > lines.length ? ", …" : "";
  const shownLines = `lines ${lines.join(", ")}${more}`;
  if (isExact) {
    return new Error(
      `old_string occurs ${count} times in ${path} (${shownLines}). Add lines around it until it occurs once, or set replace_all.`,
    );
  }
  return new Error(
    `old_string is not in ${path} exactly, and ${count} places differ from it only in white space or quotes (${shownLines}). ` +
      "Give the text exactly as the file has it, with lines around it until it occurs once.",
  );
}

/** Shows what the file has instead, so that the next try can be right. */
function missingTextError(path: string, text: string, { oldText, newText }: EditRequest): Error {
  const view = toLineFeeds(text);
  const hints = [
    numberedHint(oldText),
    alreadyThereHint(view, toLineFeeds(newText)),
    normalFormHint(view, toLineFeeds(oldText)),
    describeNearestText(view, toLineFeeds(oldText)),
  ].filter((hint) => hint !== undefined);
  if (hints.length === 0)
    hints.push("Nothing in it is similar. Read the file again and copy the text from there.");
  return new Error([`old_string was not found in ${path}; nothing was changed.`, ...hints].join("\n"));
}

function numberedHint(oldText: string): string | undefined {
  const lines = oldText.split("\n").filter((line) => line.trim() !== "");
  if (!lines.every((line) => /^\s*\d+\t/.test(line))) return undefined;
  return "old_string seems to contain the line numbers that read puts in front. Leave them out, with the tab.";
}

function normalFormHint(view: string, oldText: string): string | undefined {
  if (view.length > MAX_NORMALISED_CHARS || !view.normalize("NFC").includes(oldText.normalize("NFC")))
    return undefined;
  return "The same letters are there, but their accents are encoded another way (Unicode normal form): change it with bash.";
}

function alreadyThereHint(view: string, newText: string): string | undefined {
  if (newText.trim().length < MIN_SEARCHED_CHARS) return undefined;
  const at = view.indexOf(newText);
  if (at === -1) return undefined;
  return `new_string already exists, at line ${view.slice(0, at).split("\n").length}: this edit may have been made before.`;
}

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
function describeNearestText(text: string, wanted: string): string | undefined {
  const wantedLines = wanted.split("\n");
  const lines = text.slice(0, MAX_COMPARED_CHARS).split("\n");
  const first = findNearestLine(lines, wantedLines);
  const isLong = first !== undefined && lines.slice(first, first + wantedLines.length).some(isLongLine);
  if (first === undefined || isLong) return describeCommonStart(text, wanted);
  const nearest = lines.slice(first, first + wantedLines.length);
  const shown = nearest
    .slice(0, MAX_SHOWN_LINES)
    .map((line, index) => `${first + index + 1}\t${line.slice(0, MAX_SHOWN_CHARS)}`);
  if (nearest.length > shown.length) shown.push("…");
  return [
    `The nearest text begins at line ${first + 1}:`,
    ...shown,
    ...firstDifference(nearest, wantedLines, first),
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
  first: number,
): string[] {
  const index = wantedLines.findIndex((line, at) => line !== nearest[at]);
  const wanted = wantedLines[index] ?? "";
  const actual = nearest[index];
  if (actual === undefined) return ["The file ends there, old_string continues."];
  const column = commonStart(wanted, actual);
  return [
    `First difference, in line ${first + index + 1}: old_string has ${excerpt(wanted, column)}, the file has ${excerpt(actual, column)}.`,
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
function describeCommonStart(text: string, wanted: string): string | undefined {
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
    `old_string has ${excerpt(wanted, found)}, the file has ${excerpt(text.slice(at, at + found + EXCERPT_CHARS), found)}.`
  );
}
