import type { KnowledgeEntry } from "@diligent/core/run";
import { EXIT_SUCCESS } from "../../exit-codes.ts";
import { toJsonText } from "../../output/json-line.ts";
import { formatLocalMinute } from "../../session-text.ts";
import { sanitizeTerminalText } from "../../terminal-text.ts";
import { formatEntryAge } from "./list.ts";
import { findEntry, type KnowledgeCall, type KnowledgeShelf, listReplaced } from "./shelf.ts";

/** Shows all that is known about one entry, and what it has replaced. */
export function showKnowledge({ ids, isJson, io }: KnowledgeCall, shelf: KnowledgeShelf): number {
  const entry = findEntry(shelf.entries, ids[0] ?? "");
  const now = Date.now();
  if (isJson) io.stdout.write(toJsonText({ ...entry, ...findDetails(entry, shelf, now) }));
  else io.stdout.write(sanitizeTerminalText(formatKnowledge(entry, shelf, now)));
  return EXIT_SUCCESS;
}

/** An entry with all that is known about it, as it was written: not safe for a terminal yet. */
export function formatKnowledge(entry: KnowledgeEntry, shelf: KnowledgeShelf, now: number): string {
  return formatEntry(entry, findDetails(entry, shelf, now), now);
}

function findDetails(entry: KnowledgeEntry, shelf: KnowledgeShelf, now: number): Details {
  const { library, root, entries } = shelf;
  return {
    score: library.scoreKnowledge(entry, now),
    changedFile: library.createStaleCheck(root)(entry),
    replacedBy: entries.filter(({ id, supersedes }) => supersedes === entry.id && id !== entry.id),
    replaced: listReplaced(entry, entries).slice(1),
  };
}

interface Details {
  score: number;
  changedFile: string | undefined;
  replacedBy: readonly KnowledgeEntry[];
  /** The newest first. */
  replaced: readonly KnowledgeEntry[];
}

function formatEntry(entry: KnowledgeEntry, details: Details, now: number): string {
  const { changedFile } = details;
  const facts: [string, string | undefined][] = [
    ["Knowledge", entry.id],
    ["Type", entry.type],
    ["Confidence", entry.confidence.toFixed(2)],
    ["Score", details.score.toFixed(2)],
    ["Recorded", formatTime(entry.timestamp, now)],
    ["Session", entry.sessionId],
    ["Entry", entry.entryId],
    ["Tags", entry.tags?.join(", ")],
    ["Files", entry.files?.map(({ path }) => path).join(", ")],
    ["Stale", changedFile === undefined ? undefined : `possibly: ${changedFile} has changed since`],
  ];
  const lines = facts.flatMap(([label, value]) =>
    value === undefined ? [] : [`${label.padEnd(11)} ${value}`],
  );
  const history = [
    ...details.replacedBy.map((other) => `Replaced by ${formatOther(other, now)}`),
    ...details.replaced.map((other) => `Replaces ${formatOther(other, now)}`),
  ];
  return `${[lines.join("\n"), indent(entry.content), ...history].join("\n\n")}\n`;
}

function formatOther(entry: KnowledgeEntry, now: number): string {
  const { id, type, timestamp, content } = entry;
  return `${id}, ${type}, ${formatTime(timestamp, now)}:\n\n${indent(content)}`;
}

function formatTime(timestamp: string, now: number): string {
  const time = new Date(timestamp);
  const age = formatEntryAge(timestamp, now);
  return Number.isNaN(time.getTime()) ? age : `${formatLocalMinute(time)} (${age})`;
}

function indent(text: string): string {
  return text.replace(/^/gm, "    ");
}
