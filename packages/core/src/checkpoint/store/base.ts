import { lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TimeSlicer } from "../../infrastructure/async.ts";
import { toSystemPath } from "../../infrastructure/fs/stat.ts";
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
import { listStoreNames, sessionsOf } from "./location.ts";
import { baseOf, findOpenTurn, readSegment, type Segment, type SegmentLine } from "./log.ts";

const ENTRIES_AT_ONCE = 500;
// Compressed sooner than it is handed to a thread.
const SMALL_BYTES = 64 * 1024;

/** Writes what was in a project, compressed: a line `[path, ENTRY]` each. @throws errors of the file system. */
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

/** Undefined when it cannot be read: it is gone, or was cut off. */
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
    return undefined; // Without it everything is looked at anew.
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

/** A turn that was cut off with its process, and what the project was when it began. */
interface CutOffTurn {
  open: OpenTurn;
  entries: ReadonlyMap<string, TreeEntry>;
  /** When its process last gave a sign of life during the turn; milliseconds since the epoch, 0: not known. */
  lastSignAt: number;
}

/** The last turn of a session whose changes nobody has noted down. */
export async function findCutOffTurn(
  segments: readonly Segment[],
  slices: TimeSlicer,
): Promise<CutOffTurn | undefined> {
  const last = segments.findLast((segment) => !segment.isHeldByOther && findOpenTurn(segment) !== undefined);
  const open = last && findOpenTurn(last);
  if (!last || !open || isNotedDown(open, segments)) return undefined;
  const entries = await readLastEntries(last, slices);
  return entries && { open, entries, lastSignAt: findLastSign(last, open) };
}

/** The log's time; none where something was written behind the turn's line, since that may have been at any time. */
function findLastSign({ path, lines }: Segment, open: OpenTurn): number {
  const line = lines.at(-1);
  const isLast = line?.type === "open" && line.open === open;
  const stats = isLast ? statSync(path, { throwIfNoEntry: false }) : undefined;
  return stats?.mtimeMs ?? 0;
}

/** True for a turn of which it was noted down what it did, or may have done. */
export function isNotedDown({ run, at }: OpenTurn, segments: readonly Segment[]): boolean {
  return segments.some(({ lines }) =>
    lines.some((line) => line.type === "step" && line.step.run === run && line.step.at >= at),
  );
}

/** What was in a project, and the file that says so, where nobody else needs that any more. */
interface KnownEntries {
  entries: ReadonlyMap<string, TreeEntry>;
  base: string | undefined;
}

/**
 * What was in the project when somebody last looked at it from this place, whichever session it was: what still looks the
 * same need not be read again. Empty when nothing is known.
 */
export async function findKnownEntries(generation: string, slices: TimeSlicer): Promise<KnownEntries> {
  const sessions = sessionsOf(generation);
  const logs = listStoreNames(sessions).flatMap((session) =>
    listStoreNames(join(sessions, session))
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

/** The base of a log with everything that follows. */
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

// The kernel's clock for files is behind by that much at most: what seems older than the last sign may be newer, and somebody
// else's.
const TICK_MS = 40;

/**
 * The line for a turn that was cut off. Its work may be what has changed between its beginning and the last sign of life of
 * its process, and what is gone; everything else is certainly somebody else's.
 */
export function toCutOffStep(
  root: string,
  { open, lastSignAt }: Pick<CutOffTurn, "open" | "lastSignAt">,
  { at, changes }: { at: number; changes: readonly TreeChange[] },
): { type: "step"; step: Step } {
  const { run, entryId } = open;
  const isMeanwhile = ({ path, after }: TreeChange) => {
    if (after === undefined) return true;
    const changedMs = changeTimeOf(toAbsolute(root, path));
    return changedMs >= open.at - TICK_MS && changedMs <= lastSignAt - TICK_MS;
  };
  const step = {
    ...{ id: randomHex(6), at, kind: "run" as const, run, entryId, isCutOff: true },
    changes: changes.filter(isMeanwhile),
    foreign: changes.filter((change) => !isMeanwhile(change)),
  };
  return { type: "step", step };
}

/** Milliseconds since the epoch; endless for what cannot be told. */
function changeTimeOf(absolute: string): number {
  try {
    return lstatSync(toSystemPath(absolute)).ctimeMs;
  } catch {
    return Number.POSITIVE_INFINITY; // It went away just now: somebody else's work.
  }
}
