import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CompactionEntry,
  type Message,
  resolvePaths,
  SESSION_VERSION,
  type SessionEntry,
  type SessionHeader,
} from "@diligent/core/run";
import { toMessage } from "./session-files.ts";

/** How long a session is, and how often it has been too long. */
export interface CompactedSessionSize {
  entries: number;
  /** How often the session was compacted; each time everything before was summarised. */
  compactions: number;
  /** Of each stretch, at four characters a token; a summary takes some 11,000 more. */
  stretchTokens: number;
}

const TIMESTAMP = "2026-01-01T00:00:00.000Z";
const SUMMARY = `## Goal\n\nGo on.\n\n## Progress\n\n${"- [x] A part of the work is done.\n".repeat(80)}\n## Critical Context\n\n- None.`;
const LINE = 'export const value = compute("one", 2); // as read from a file\n';
// A round is a prompt, a call, its result and an answer; all but the result are short.
const ENTRIES_A_ROUND = 4;
const SHORT_CHARACTERS_A_ROUND = 75;

/** Writes a session into a project that was held in stretches of the same length, all but the last of them compacted. */
export function writeCompactedSession(project: string, size: CompactedSessionSize, index = 0): void {
  const { sessions } = resolvePaths(project);
  mkdirSync(sessions, { recursive: true });
  const id = `20260101000000-${index.toString(16).padStart(6, "0")}`;
  const header: SessionHeader = {
    type: "session",
    version: SESSION_VERSION,
    id,
    timestamp: TIMESTAMP,
    cwd: project,
  };
  const lines = [header, ...createEntries(size)].map((value) => `${JSON.stringify(value)}\n`);
  // On disk, since a compaction waits for the disk and would have all of it to wait for.
  writeFileSync(join(sessions, `${id}.jsonl`), lines.join(""), { mode: 0o600, flush: true });
}

function createEntries({ entries, compactions, stretchTokens }: CompactedSessionSize): SessionEntry[] {
  const stretch = Math.floor(entries / (compactions + 1));
  const output = createOutput((stretchTokens * 4 * ENTRIES_A_ROUND) / stretch - SHORT_CHARACTERS_A_ROUND);
  return Array.from({ length: entries }, (_, number) => {
    const isCompaction = number > 0 && number % stretch === 0 && number / stretch <= compactions;
    const place = {
      id: toId(number),
      parentId: number === 0 ? null : toId(number - 1),
      timestamp: TIMESTAMP,
    };
    if (isCompaction) return createCompaction(place, number);
    return { type: "message", ...place, message: withPath(toMessage(number, output), number) };
  });
}

/** Everything before it is summarised, but for the answer right before it. */
function createCompaction(
  place: Pick<CompactionEntry, "id" | "parentId" | "timestamp">,
  number: number,
): CompactionEntry {
  const readFiles = Array.from({ length: 100 }, (_, file) => `src/part-${file}.ts`);
  return {
    type: "compaction",
    ...place,
    summary: SUMMARY,
    firstKeptEntryId: toId(number - 1),
    tokensBefore: 170_000,
    tokensAfter: 30_000,
    details: { readFiles, modifiedFiles: [] },
    pinnedTokens: 10_000,
  };
}

/** Sessions read many files, not one. */
function withPath(message: Message, number: number): Message {
  if (message.role !== "assistant") return message;
  const content = message.content.map((block) =>
    block.type === "tool_call" ? { ...block, input: { file_path: `src/part-${number % 300}.ts` } } : block,
  );
  return { ...message, content };
}

function createOutput(characters: number): string {
  const length = Math.max(1, Math.floor(characters));
  return LINE.repeat(Math.ceil(length / LINE.length)).slice(0, length);
}

function toId(number: number): string {
  return (0x10000000 + number).toString(16);
}
