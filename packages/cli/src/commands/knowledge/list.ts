import type { KnowledgeEntry } from "@diligent/core/run";
import { EXIT_SUCCESS } from "../../exit-codes.ts";
import { toJsonText } from "../../output/json-line.ts";
import { formatAge } from "../../session-text.ts";
import { toSingleLine } from "../../terminal-text.ts";
import type { KnowledgeCall, KnowledgeShelf } from "./shelf.ts";

// What is read in a pager or a file has no width of its own.
const DEFAULT_COLUMNS = 100;
const MIN_CONTENT_COLUMNS = 20;
const INDENT = "    ";

interface ListedKnowledge {
  entry: KnowledgeEntry;
  score: number;
  /** The first of its files that has changed since. */
  changedFile: string | undefined;
}

/** Lists what is told to the model, what counts most first: a line about each entry and one with what it says. */
export function listKnowledge(
  { isJson, io }: KnowledgeCall,
  { library, root, entries }: KnowledgeShelf,
): number {
  const now = Date.now();
  const findChangedFile = library.createStaleCheck(root);
  const listed = library.rankWithScores(entries, now).map(({ entry, score }) => ({
    entry,
    score,
    changedFile: findChangedFile(entry),
  }));
  if (isJson) io.stdout.write(toJsonText(listed.map(toJson)));
  else if (entries.length === 0) io.stdout.write("No knowledge yet.\n");
  else {
    const columns = io.stdout.columns ?? DEFAULT_COLUMNS;
    const lines = listed.map((each) => formatListed(each, { now, columns }));
    io.stdout.write(lines.join("") + describeSuperseded(entries.length - listed.length));
  }
  return EXIT_SUCCESS;
}

function toJson({ entry, score, changedFile }: ListedKnowledge): object {
  return { ...entry, score, ...(changedFile !== undefined && { changedFile }) };
}

function formatListed(
  { entry, changedFile }: ListedKnowledge,
  { now, columns }: { now: number; columns: number },
): string {
  const { id, type, confidence, timestamp, sessionId } = entry;
  const facts = [
    toSingleLine(id, 40),
    type.padEnd("preference".length),
    confidence.toFixed(2),
    formatEntryAge(timestamp, now),
    ...(sessionId === undefined ? [] : [`session ${toSingleLine(sessionId, 40)}`]),
    ...(changedFile === undefined ? [] : [`possibly stale: ${toSingleLine(changedFile, 60)} has changed`]),
  ];
  const content = toSingleLine(entry.content, Math.max(MIN_CONTENT_COLUMNS, columns - INDENT.length));
  return `${facts.join("  ")}\n${INDENT}${content}\n`;
}

/** How long ago, for a person; a time that cannot be read is said as it is. */
export function formatEntryAge(timestamp: string, now: number): string {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? "at an unknown time" : formatAge(now - time);
}

function describeSuperseded(count: number): string {
  if (count === 0) return "";
  const what = count === 1 ? "1 that was replaced is" : `${count} that were replaced are`;
  return `\n${what} not listed; diligent knowledge prune takes them away.\n`;
}
