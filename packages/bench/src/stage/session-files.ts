import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { KnowledgeEntry } from "@diligent/core";
import { KNOWLEDGE_TYPES, knowledgeFilePath } from "@diligent/core/config";
import {
  type CompactionEntry,
  EMPTY_USAGE,
  type Message,
  resolvePaths,
  SESSION_VERSION,
  type SessionEntry,
  type SessionHeader,
  type SessionMessageEntry,
} from "@diligent/core/run";
import { SOURCE_FILES, sourcePath } from "./stage.ts";

/** How long the session file is. */
interface SessionSize {
  entries: number;
  /** Approximate size of the whole file. */
  bytes: number;
}

const FIRST_MOMENT = Date.UTC(2026, 0, 1);
const CODE = 'export const value = compute("one", 2); // as read from a file\n';
// The size of an entry without its text.
const ENTRY_BYTES = 260;
const MESSAGES_PER_ROUND = 4;

/** Writes sessions into a project as if they had taken place there; returns their files. */
export function writeSessions(project: string, count: number, size: SessionSize): string[] {
  const { sessions } = resolvePaths(project);
  mkdirSync(sessions, { recursive: true });
  return Array.from({ length: count }, (_, index) => writeSession(project, sessions, { ...size, index }));
}

interface OneSession extends SessionSize {
  /** Later sessions have higher numbers. */
  index: number;
}

function writeSession(cwd: string, directory: string, { entries, bytes, index }: OneSession): string {
  const id = `20260101000000-${index.toString(16).padStart(6, "0")}`;
  const path = join(directory, `${id}.jsonl`);
  const outputBytes = Math.max(0, (bytes / entries - ENTRY_BYTES) * MESSAGES_PER_ROUND);
  const output = CODE.repeat(Math.ceil(outputBytes / CODE.length)).slice(0, outputBytes);
  const timestamp = new Date(FIRST_MOMENT + index * 60_000).toISOString();
  const header: SessionHeader = { type: "session", version: SESSION_VERSION, id, timestamp, cwd };
  const file = openSync(path, "w", 0o600);
  writeSync(file, toLine(header));
  for (let number = 0; number < entries; number++)
    writeSync(file, toLine(toEntry(number, timestamp, output)));
  closeSync(file);
  return path;
}

function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Rounds of a prompt, a tool call, its result, an answer. */
function toEntry(number: number, timestamp: string, output: string): SessionMessageEntry {
  const parentId = number === 0 ? null : toEntryId(number - 1);
  return { type: "message", id: toEntryId(number), parentId, timestamp, message: toMessage(number, output) };
}

function toEntryId(number: number): string {
  return (0x10000000 + number).toString(16);
}

/** @param output the content of each tool result. */
export function toMessage(number: number, output: string): Message {
  const round = Math.floor(number / MESSAGES_PER_ROUND);
  const reply = { role: "assistant", model: "claude-sonnet-5", usage: EMPTY_USAGE } as const;
  const result = {
    role: "tool_result",
    toolCallId: `toolu_${round}`,
    toolName: "read",
    isError: false,
  } as const;
  const call = {
    type: "tool_call",
    id: `toolu_${round}`,
    name: "read",
    input: { file_path: "a.ts" },
  } as const;
  const timestamp = FIRST_MOMENT + number;
  switch (number % MESSAGES_PER_ROUND) {
    case 0:
      return { role: "user", content: `Do what is needed, number ${round}.`, timestamp };
    case 1:
      return {
        ...reply,
        content: [{ type: "text", text: "I look." }, call],
        stopReason: "tool_use",
        timestamp,
      };
    case 2:
      return { ...result, output, timestamp };
    default:
      return { ...reply, content: [{ type: "text", text: "Done." }], stopReason: "end_turn", timestamp };
  }
}

/** How long a session is, and how often it was compacted. */
export interface CompactedSessionSize {
  entries: number;
  /** The number of compactions; each summarized everything before it. */
  compactions: number;
  /** Per stretch, at four characters a token; a summary takes some 11,000 more. */
  stretchTokens: number;
}

const TIMESTAMP = "2026-01-01T00:00:00.000Z";
const SUMMARY = `## Goal\n\nContinue.\n\n## Progress\n\n${"- [x] A part of the work is done.\n".repeat(80)}\n## Critical Context\n\n- None.`;
const LINE = 'export const value = compute("one", 2); // as read from a file\n';
// A round is a prompt, a call, its result and an answer; all except the result are short.
const ENTRIES_A_ROUND = 4;
const SHORT_CHARACTERS_PER_ROUND = 75;

/** Writes a session into a project, in stretches of the same length, all except the last compacted. */
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
  // Synced to disk, since a compaction waits for the disk and would otherwise have to wait for all of it.
  writeFileSync(join(sessions, `${id}.jsonl`), lines.join(""), { mode: 0o600, flush: true });
}

function createEntries({ entries, compactions, stretchTokens }: CompactedSessionSize): SessionEntry[] {
  const stretch = Math.floor(entries / (compactions + 1));
  const output = createOutput((stretchTokens * 4 * ENTRIES_A_ROUND) / stretch - SHORT_CHARACTERS_PER_ROUND);
  return Array.from({ length: entries }, (_, number) => {
    const isCompaction = number > 0 && number % stretch === 0 && number / stretch <= compactions;
    const place = {
      id: toIdCompactedSession(number),
      parentId: number === 0 ? null : toIdCompactedSession(number - 1),
      timestamp: TIMESTAMP,
    };
    if (isCompaction) return createCompaction(place, number);
    return { type: "message", ...place, message: withPath(toMessage(number, output), number) };
  });
}

/** Everything before it is summarized, except the answer directly before it. */
function createCompaction(
  place: Pick<CompactionEntry, "id" | "parentId" | "timestamp">,
  number: number,
): CompactionEntry {
  const readFiles = Array.from({ length: 100 }, (_, file) => `src/part-${file}.ts`);
  return {
    type: "compaction",
    ...place,
    summary: SUMMARY,
    firstKeptEntryId: toIdCompactedSession(number - 1),
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

function toIdCompactedSession(number: number): string {
  return (0x10000000 + number).toString(16);
}

const LATEST = Date.UTC(2026, 10, 1);
const HOUR_MS = 60 * 60 * 1000;
const CONTENT = "is built only after the generated files are there, since the parser reads them at import. ";

/**
 * Writes as many entries into a project of `createProject` as a year of sessions would: one in ten replaces
 * an earlier one, one in three names a file, and half of those files have changed since.
 */
export function writeKnowledge(project: string, count: number): void {
  const { knowledge } = resolvePaths(project);
  const hashes = Array.from({ length: SOURCE_FILES }, (_, index) => hashOf(join(project, sourcePath(index))));
  const lines = Array.from({ length: count }, (_, number) => {
    const path = sourcePath(number);
    const hash = number % 2 === 0 ? hashes[number % SOURCE_FILES] : undefined;
    const file = { path, hash: hash ?? hashOf(import.meta.path) };
    return `${JSON.stringify(createEntry(number, count, file))}\n`;
  });
  mkdirSync(knowledge, { recursive: true, mode: 0o700 });
  writeFileSync(knowledgeFilePath(knowledge), lines.join(""), { mode: 0o600 });
}

function createEntry(number: number, count: number, file: { path: string; hash: string }): KnowledgeEntry {
  return {
    id: toIdKnowledgeFile(number),
    timestamp: new Date(LATEST - (count - number) * HOUR_MS).toISOString(),
    sessionId: "20260101000000-000000",
    type: KNOWLEDGE_TYPES[number % KNOWLEDGE_TYPES.length] ?? "pattern",
    content: `Part ${number} ${CONTENT.repeat(1 + (number % 3))}`,
    confidence: 0.5 + (number % 50) / 100,
    ...(number % 10 === 9 && { supersedes: toIdKnowledgeFile(number - 7) }),
    ...(number % 3 === 0 && { files: [file] }),
  };
}

function hashOf(path: string): string {
  return Bun.SHA256.hash(readFileSync(path), "hex");
}

function toIdKnowledgeFile(number: number): string {
  return (0x10000000 + number).toString(16);
}
