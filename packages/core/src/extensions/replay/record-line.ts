import { z } from "zod";
import type { AgentEvent } from "../../agent/types.ts";
import type { Effort, Model, RunConditions } from "../../provider/types.ts";
import type { CompactionSettings } from "../../types.ts";

/** The version of the format that this program writes, and the only one that it replays. */
export const RECORD_VERSION = 1;

/** The most bytes of one record; what follows is not recorded. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** What a replay needs to know about a tool. */
export interface RecordedTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  isDeferred?: true | undefined;
  readOnly?: boolean | undefined;
  changesFiles?: boolean | undefined;
  keep?: "head" | "tail" | "both" | undefined;
  /** Which of the functions of a tool it has, so that a replay asks only for answers that were recorded. */
  functions: ("approval" | "runsAlone" | "waits" | "isOffered" | "isRefused" | "findOther")[];
}

/** The settings of an opened session; functions are represented by their names. */
export interface RecordedSettings {
  model: Model;
  effort?: Effort | undefined;
  systemPrompt: string;
  tools: RecordedTool[];
  maxTurns?: number | undefined;
  maxCost?: number | undefined;
  maxRetries?: number | undefined;
  conditions?: RunConditions | undefined;
  compaction?: CompactionSettings | undefined;
  flushKnowledge?: boolean | undefined;
  nudgeInterval?: number | undefined;
  /** The functions that the session had. */
  functions: string[];
  /** The user's home directory, for the lists of files in summaries. */
  home?: string | undefined;
}

/** A session was opened: the lines up to the next one belong to this opening. */
export interface OpeningLine {
  t: "open";
  version: typeof RECORD_VERSION;
  sessionId: string;
  /** ISO 8601. */
  at: string;
  cwd: string;
  /** The size of the session's file at that time; 0 for a new session. */
  sessionBytes: number;
  /** The entry after which it continues; null at the beginning. */
  leafId: string | null;
  /** See `LiveSession`. */
  openingId?: string | undefined;
  origin?: { parentSession?: string; parentEntry?: string; agent?: string } | undefined;
  settings: RecordedSettings;
}

/**
 * A line of a record. What the session does: `out` emits an event, `call` asks for an answer that arrives later, `get` asks
 * for one that is there at once. What happens to it: `ret` and `ev` answer a call, `cb` is what a call does with the session
 * before its answer, `do` calls the session, `set` is a value that it reads from then on.
 */
export type RecordLine =
  | OpeningLine
  | { t: "out"; e: string; h: string }
  | { t: "call"; n: number; f: string; k?: string | undefined }
  | { t: "get"; f: string; v?: unknown }
  | { t: "ret"; n: number; v?: unknown; e?: string | undefined }
  | { t: "ev"; n: number; v?: unknown }
  | { t: "cb"; n: number; f: string; a?: unknown }
  | { t: "do"; f: string; a?: unknown; n?: number | undefined }
  | { t: "set"; k: string; v?: unknown }
  /** The session was closed; `h` is the hash of all events of the opening. */
  | { t: "end"; h: string; events: number }
  /** The rest is not recorded. */
  | { t: "stop"; why: string };

const isObject = (value: unknown) => typeof value === "object" && value !== null;

/** A value of ours that went through JSON: only its outer form is checked. */
export function fromJson<T>(check: (value: unknown) => boolean = isObject) {
  return z.custom<T>(check);
}

/** An event as it was reported to a session. */
export const EVENT = fromJson<AgentEvent>((value) => isObject(value) && hasText(value, "type"));

function hasText(value: unknown, key: string): boolean {
  return z.object({ [key]: z.string() }).safeParse(value).success;
}

const NUMBER = z.number().int();

const LINE = z.discriminatedUnion("t", [
  z.object({
    t: z.literal("open"),
    version: z.literal(RECORD_VERSION),
    sessionId: z.string(),
    at: z.string(),
    cwd: z.string(),
    sessionBytes: NUMBER,
    leafId: z.string().nullable(),
    openingId: z.string().optional(),
    origin: z
      .object({
        parentSession: z.string().exactOptional(),
        parentEntry: z.string().exactOptional(),
        agent: z.string().exactOptional(),
      })
      .optional(),
    settings: fromJson<RecordedSettings>((value) => isObject(value) && hasText(value, "systemPrompt")),
  }),
  z.object({ t: z.literal("out"), e: z.string(), h: z.string() }),
  z.object({ t: z.literal("call"), n: NUMBER, f: z.string(), k: z.string().optional() }),
  z.object({ t: z.literal("get"), f: z.string(), v: z.unknown().optional() }),
  z.object({ t: z.literal("ret"), n: NUMBER, v: z.unknown().optional(), e: z.string().optional() }),
  z.object({ t: z.literal("ev"), n: NUMBER, v: z.unknown().optional() }),
  z.object({ t: z.literal("cb"), n: NUMBER, f: z.string(), a: z.unknown().optional() }),
  z.object({ t: z.literal("do"), f: z.string(), a: z.unknown().optional(), n: NUMBER.optional() }),
  z.object({ t: z.literal("set"), k: z.string(), v: z.unknown().optional() }),
  z.object({ t: z.literal("end"), h: z.string(), events: NUMBER }),
  z.object({ t: z.literal("stop"), why: z.string() }),
]);

/** A record cannot be replayed; the message names the place. */
export class RecordError extends Error {}

/** A line with its number in the file, from 1. */
export interface NumberedLine {
  number: number;
  line: Exclude<RecordLine, OpeningLine>;
}

/** One opening of a session, and what happened until the next one. */
export interface RecordedOpening {
  /** The number of its line. */
  number: number;
  opening: OpeningLine;
  lines: NumberedLine[];
}

/**
 * Reads a record. A last line that was written only in part is left out: the process was killed.
 * @param name for messages.
 * @throws RecordError for a damaged line, naming it.
 */
export function parseSessionRecord(text: string, name: string): RecordedOpening[] {
  const openings: RecordedOpening[] = [];
  const rows = text.split("\n");
  const isCut = rows.at(-1) !== "";
  for (const [index, row] of rows.entries()) {
    const number = index + 1;
    if (index === rows.length - 1) continue;
    const line = parseLine(row);
    if (!line) throw new RecordError(`line ${number} of ${name} is damaged`);
    if (line.t === "open") openings.push({ number, opening: line, lines: [] });
    else if (openings.length === 0)
      throw new RecordError(`line 1 of ${name} is not the beginning of a record`);
    else openings.at(-1)?.lines.push({ number, line });
  }
  if (openings.length === 0)
    throw new RecordError(isCut ? `${name} ends in its first line` : `${name} is empty`);
  return openings;
}

function parseLine(row: string): RecordLine | undefined {
  try {
    const parsed = LINE.safeParse(JSON.parse(row));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined; // It is not JSON.
  }
}
