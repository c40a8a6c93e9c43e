import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import {
  EMPTY_USAGE,
  type Message,
  resolvePaths,
  SESSION_VERSION,
  type SessionHeader,
  type SessionMessageEntry,
} from "@diligent/core/run";

/** How long a session file is made. */
export interface SessionSize {
  entries: number;
  /** Of the whole file, about. */
  bytes: number;
}

const FIRST_MOMENT = Date.UTC(2026, 0, 1);
const CODE = 'export const value = compute("one", 2); // as read from a file\n';
// What an entry holds beside its text.
const ENTRY_BYTES = 260;
const MESSAGES_A_ROUND = 4;

/** Writes sessions into a project as if they had been held there; returns their files. */
export function writeSessions(project: string, count: number, size: SessionSize): string[] {
  const { sessions } = resolvePaths(project);
  mkdirSync(sessions, { recursive: true });
  return Array.from({ length: count }, (_, index) => writeSession(project, sessions, { ...size, index }));
}

interface OneSession extends SessionSize {
  /** Later sessions have higher ones. */
  index: number;
}

function writeSession(cwd: string, directory: string, { entries, bytes, index }: OneSession): string {
  const id = `20260101000000-${index.toString(16).padStart(6, "0")}`;
  const path = join(directory, `${id}.jsonl`);
  const outputBytes = Math.max(0, (bytes / entries - ENTRY_BYTES) * MESSAGES_A_ROUND);
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

/** @param output what each tool result holds. */
export function toMessage(number: number, output: string): Message {
  const round = Math.floor(number / MESSAGES_A_ROUND);
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
  switch (number % MESSAGES_A_ROUND) {
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
