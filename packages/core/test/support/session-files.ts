import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionEntry, SessionHeader, SessionMessageEntry } from "../../src/session/types.ts";
import type { Message } from "../../src/types.ts";
import { assistant, text, user } from "./messages.ts";
import { makeTempDir } from "./temp-dir.ts";

export const STAMP = "2026-02-25T10:30:00.000Z";

export function header(fields: Partial<SessionHeader> = {}): SessionHeader {
  return {
    type: "session",
    version: 2,
    id: "20260225103000-abcdef",
    timestamp: STAMP,
    cwd: "/work",
    ...fields,
  };
}

export function entry(
  id: string,
  parentId: string | null,
  message: Message | string = `text of ${id}`,
): SessionMessageEntry {
  return {
    type: "message",
    id,
    parentId,
    timestamp: STAMP,
    message: typeof message === "string" ? user(message) : message,
  };
}

/** Entries that follow one another: what the user says and what is answered, in turns. */
export function chain(length: number): SessionMessageEntry[] {
  return Array.from({ length }, (_, index) => {
    const message = index % 2 === 0 ? user(`question ${index}`) : assistant([text(`answer ${index}`)]);
    return entry(entryId(index), index === 0 ? null : entryId(index - 1), message);
  });
}

export function entryId(index: number): string {
  return (0xa0000000 + index).toString(16);
}

export function toLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

/** Writes a file into a directory of its own and returns its path. */
export function writeSessionFile(content: string | Uint8Array, name = "20260225103000-abcdef.jsonl"): string {
  const path = join(makeTempDir(), name);
  writeFileSync(path, content);
  return path;
}

export function writeSession(entries: readonly SessionEntry[], fields: Partial<SessionHeader> = {}): string {
  return writeSessionFile(toLines([header(fields), ...entries]));
}

/** The JSON values of a file's lines, those that are none as text. */
export function readJsonLines(path: string): unknown[] {
  const text = readFileSync(path, "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(parseOrText);
}

function parseOrText(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
