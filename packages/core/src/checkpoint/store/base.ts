import { lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TimeSlicer } from "../../infrastructure/async.ts";
import { listNames, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { randomHex } from "../../infrastructure/runtime.ts";
import {
  type EntryRecord,
  isPathInside,
  readEntryRecord,
  type TreeChange,
  type TreeEntry,
  toAbsolute,
  toEntryRecord,
} from "../entries.ts";
import type { OpenTurn, Step } from "../types.ts";
import { sessionsOf } from "./location.ts";
import { baseOf, findOpenTurn, readSegment, type Segment, type SegmentLine } from "./log.ts";

const ENTRIES_AT_ONCE = 500;
// Below this size, compressing is faster than using a thread.
const SMALL_BYTES = 64 * 1024;

/** Writes the entries of a project, compressed: one line `[path, ENTRY]` each. @throws errors of the file system. */
export async function writeBase(
  path: string,
  entries: ReadonlyMap<string, TreeEntry>,
  slices: TimeSlicer,
): Promise<void> {
  const pieces: Buffer[] = [];
  let lines: string[] = [];
  for (const [entryPath, entry] of entries) {
    lines.push(JSON.stringify([entryPath, toEntryRecord(entry)]));
    if (lines.length < ENTRIES_AT_ONCE) continue;
    pieces.push(Buffer.from(`${lines.join("\n")}\n`));
    lines = [];
    if (slices.isDue) await slices.pause();
  }
  pieces.push(Buffer.from(lines.join("\n")));
  writeFileSync(path, await compress(Buffer.concat(pieces)), { mode: 0o600, flag: "wx" });
}

function compress(content: Buffer): Buffer | Promise<Buffer> {
  const options = { level: 1 };
  return content.length < SMALL_BYTES
    ? Bun.zstdCompressSync(content, options)
    : Bun.zstdCompress(content, options);
}

/** Undefined when it cannot be read: it is missing or truncated. */
async function readBase(path: string, slices: TimeSlicer): Promise<Map<string, TreeEntry> | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  const entries = new Map<string, TreeEntry>();
  for (let start = 0; start < text.length; ) {
    if (slices.isDue) await slices.pause();
    const end = text.indexOf(10, start);
    const line = text.toString("utf8", start, end < 0 ? text.length : end);
    const [entryPath, entry] = parseLine(line);
    if (entryPath === undefined || entry === undefined) return undefined;
    entries.set(entryPath, entry);
    start = end < 0 ? text.length : end + 1;
  }
  return entries;
}

async function readText(path: string): Promise<Buffer | undefined> {
  try {
    return Buffer.from(await Bun.zstdDecompress(readFileSync(path)));
  } catch {
    return undefined; // Without a base everything is scanned again.
  }
}

function parseLine(line: string): [path?: string, entry?: TreeEntry | undefined] {
  try {
    const [path, record]: [unknown, EntryRecord] = JSON.parse(line);
    return typeof path === "string" && isPathInside(path) ? [path, readEntryRecord(record)] : [];
  } catch {
    return []; // An invalid line makes the whole file unusable.
  }
}

/** A turn that was interrupted with its process, and the state of the project at its start. */
interface CutOffTurn {
  open: OpenTurn;
  entries: ReadonlyMap<string, TreeEntry>;
  /** The last heartbeat of its process during the turn; milliseconds since the epoch, 0 when unknown. */
  lastHeartbeatAt: number;
}

/** The last turn of a session whose changes were not recorded. */
export async function findCutOffTurn(
  segments: readonly Segment[],
  slices: TimeSlicer,
): Promise<CutOffTurn | undefined> {
  const last = segments.findLast((segment) => !segment.isHeldByOther && findOpenTurn(segment) !== undefined);
  const open = last && findOpenTurn(last);
  if (!last || !open || isRecordedTurn(open, segments)) return undefined;
  const entries = await readLastEntries(last, slices);
  return entries && { open, entries, lastHeartbeatAt: findLastHeartbeat(last, open) };
}

/** The log's time; 0 if a line follows the turn's line, since that may have been written at any time. */
function findLastHeartbeat({ path, lines }: Segment, open: OpenTurn): number {
  const line = lines.at(-1);
  const isLast = line?.type === "open" && line.open === open;
  const stats = isLast ? statSync(path, { throwIfNoEntry: false }) : undefined;
  return stats?.mtimeMs ?? 0;
}

/** True for a turn whose changes, or possible changes, were recorded. */
export function isRecordedTurn({ run, at }: OpenTurn, segments: readonly Segment[]): boolean {
  return segments.some(({ lines }) =>
    lines.some((line) => line.type === "step" && line.step.run === run && line.step.at >= at),
  );
}

/** The entries of a project, and their base file if no other process needs it. */
interface KnownEntries {
  entries: ReadonlyMap<string, TreeEntry>;
  base: string | undefined;
}

/**
 * The last known entries of the project in this generation, from any session: entries that still have the same times
 * need not be read again. Empty when nothing is known.
 */
export async function findKnownEntries(generation: string, slices: TimeSlicer): Promise<KnownEntries> {
  const sessions = sessionsOf(generation);
  const logs = listNames(sessions).flatMap((session) =>
    listNames(join(sessions, session))
      .filter((name) => name.endsWith(".base"))
      .map((name) => ({ name, path: join(sessions, session, name.replace(/\.base$/, ".jsonl")) })),
  );
  const newest = logs.sort((left, right) => (left.name < right.name ? -1 : 1)).at(-1);
  const segment = newest && readSegment(newest.path);
  const entries = segment && (await readLastEntries(segment, slices));
  if (!entries) return { entries: new Map(), base: undefined };
  const isNeeded = segment.isHeldByOther || findOpenTurn(segment) !== undefined;
  return { entries, base: isNeeded ? undefined : baseOf(segment.path) };
}

/** The base of a log with all its later changes. */
async function readLastEntries(
  { path, lines }: Segment,
  slices: TimeSlicer,
): Promise<ReadonlyMap<string, TreeEntry> | undefined> {
  const entries = await readBase(baseOf(path), slices);
  if (!entries) return undefined;
  for (const line of lines) {
    for (const { path: changed, after } of changesOf(line)) {
      if (after) entries.set(changed, after);
      else entries.delete(changed);
    }
  }
  return entries;
}

function changesOf(line: SegmentLine) {
  if (line.type === "open") return [...line.open.changes, ...(line.open.arrived ?? [])];
  if (line.type !== "step") return [];
  const { changes, foreign = [], arrived = [] } = line.step;
  return [...changes, ...foreign, ...arrived];
}

// The kernel's file clock lags by at most this much: a change that seems older than the last heartbeat may be newer,
// and foreign.
const TICK_MS = 40;

/**
 * The step for an interrupted turn. Changes between its start and the last heartbeat of its process, and removed
 * paths, may be its work; all other changes are certainly foreign.
 */
export function toCutOffStep(
  root: string,
  { open, lastHeartbeatAt }: Pick<CutOffTurn, "open" | "lastHeartbeatAt">,
  { at, changes }: { at: number; changes: readonly TreeChange[] },
): { type: "step"; step: Step } {
  const { run, entryId } = open;
  const isOwnChange = ({ path, after }: TreeChange) => {
    if (after === undefined) return true;
    const changedMs = changeTimeOf(toAbsolute(root, path));
    return changedMs >= open.at - TICK_MS && changedMs <= lastHeartbeatAt - TICK_MS;
  };
  const step = {
    ...{ id: randomHex(6), at, kind: "run" as const, run, entryId, isCutOff: true },
    changes: changes.filter(isOwnChange),
    foreign: changes.filter((change) => !isOwnChange(change)),
  };
  return { type: "step", step };
}

/** Milliseconds since the epoch; infinite when unknown. */
function changeTimeOf(absolute: string): number {
  try {
    return lstatSync(toSystemPath(absolute)).ctimeMs;
  } catch {
    return Number.POSITIVE_INFINITY; // It was removed just now by another process.
  }
}
