import { statSync } from "node:fs";
import { join } from "node:path";
import type { Slices } from "../slices.ts";
import type { OpenTurn } from "../timeline/types.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { readBase } from "./base-file.ts";
import { baseOf, findOpenTurn, readSegment, type Segment } from "./read-segments.ts";
import type { SegmentLine } from "./segment-lines.ts";
import { listNames, sessionsOf } from "./store-place.ts";

/** A turn that was cut off with its process, and what the project was when it began. */
export interface CutOffTurn {
  open: OpenTurn;
  entries: ReadonlyMap<string, TreeEntry>;
  /** When its process last gave a sign of life while the turn went on; milliseconds since the epoch, 0: not known. */
  lastSignAt: number;
}

/** The last turn of a session whose changes nobody has noted down. */
export async function findCutOffTurn(
  segments: readonly Segment[],
  slices: Slices,
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
export interface KnownEntries {
  entries: ReadonlyMap<string, TreeEntry>;
  base: string | undefined;
}

/**
 * What was in the project when somebody last looked at it from this place, whichever session it was: what still looks the
 * same need not be read again. Empty when nothing is known.
 */
export async function findKnownEntries(generation: string, slices: Slices): Promise<KnownEntries> {
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

/** The base of a log with everything that follows. */
async function readLastEntries(
  { path, lines }: Segment,
  slices: Slices,
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
  if (line.type === "open") return line.open.changes;
  return line.type === "step" ? [...line.step.changes, ...(line.step.foreign ?? [])] : [];
}
