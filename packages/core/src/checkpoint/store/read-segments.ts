import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProcessAlive, ownIdentity } from "../../infrastructure/processes/process-identity.ts";
import type { OpenTurn, Restoring, Step } from "../timeline/types.ts";
import { parseSegmentLine, type SegmentHeader, type SegmentLine } from "./segment-lines.ts";
import { listNames, sessionOf } from "./store-place.ts";

/** What one process has written about a session. */
export interface Segment {
  /** Absolute path of its log. */
  path: string;
  header: SegmentHeader;
  /** In the order in which they were written. */
  lines: readonly SegmentLine[];
  /** True while another process that writes it runs. */
  isHeldByOther: boolean;
}

/** The logs of a session in all the given places, the oldest first. */
export function readSegments(generations: readonly string[], sessionId: string): Segment[] {
  const segments = generations.flatMap((generation) => {
    const directory = sessionOf(generation, sessionId);
    const names = listNames(directory).filter((name) => name.endsWith(".jsonl"));
    return names.flatMap((name) => readSegment(join(directory, name)) ?? []);
  });
  return segments.sort((left, right) => left.header.at - right.header.at);
}

/** Undefined for what is no log. */
export function readSegment(path: string): Segment | undefined {
  const lines = readText(path)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : (parseSegmentLine(line) ?? [])));
  const [first] = lines;
  if (first?.type !== "checkpoints") return undefined;
  return { path, header: first.header, lines, isHeldByOther: isHeldByOther(first.header) };
}

function isHeldByOther(header: SegmentHeader): boolean {
  const own = ownIdentity();
  const isOwn = header.pid === own.pid && header.startTime === own.startTime;
  return !isOwn && isProcessAlive(header);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // Dropped just now, with everything around it.
  }
}

/** The base beside a log: what was in the project when the log was begun. */
export function baseOf(segmentPath: string): string {
  return segmentPath.replace(/\.jsonl$/, ".base");
}

/** All steps of a session in order. */
export function stepsOf(segments: readonly Segment[]): Step[] {
  const steps = segments.flatMap(({ lines }) =>
    lines.flatMap((line) => (line.type === "step" ? [line.step] : [])),
  );
  return steps.sort((left, right) => left.at - right.at);
}

/** A turn whose changes were never noted down: it goes on, or its process has died. */
export function findOpenTurn({ lines }: Segment): OpenTurn | undefined {
  const last = lines.findLast(
    (line) => line.type === "open" || (line.type === "step" && line.step.kind === "run"),
  );
  return last?.type === "open" ? last.open : undefined;
}

/** What was begun and never noted down as done. */
export interface UnfinishedRestorings {
  /** Nothing has been done in the session since: they can be gone on with. */
  current: readonly Restoring[];
  /** What they had done can no longer be told from what came after. */
  superseded: readonly Restoring[];
}

/** Those that were begun and never finished. */
export function unfinishedRestorings(segments: readonly Segment[]): UnfinishedRestorings {
  const steps = stepsOf(segments);
  const finished = new Set(steps.map(({ id }) => id));
  const lastAt = [...steps, ...opensOf(segments)].reduce((last, { at }) => Math.max(last, at), 0);
  const begun = segments
    .flatMap(({ lines }) => lines.flatMap((line) => (line.type === "restoring" ? [line.restoring] : [])))
    .filter(({ id }) => !finished.has(id));
  return {
    current: begun.filter(({ at }) => at > lastAt),
    superseded: begun.filter(({ at }) => at <= lastAt),
  };
}

function opensOf(segments: readonly Segment[]): OpenTurn[] {
  return segments.flatMap(({ lines }) => lines.flatMap((line) => (line.type === "open" ? [line.open] : [])));
}

/** The time of the last line of a session: the next one is to be later, whatever the clock says. */
export function lastTimeOf(segments: readonly Segment[]): number {
  const times = segments.flatMap(({ header, lines }) => [
    header.at,
    ...lines.flatMap((line) => {
      if (line.type === "step") return [line.step.at];
      if (line.type === "open") return [line.open.at];
      return line.type === "restoring" ? [line.restoring.at] : [];
    }),
  ]);
  return times.reduce((last, at) => Math.max(last, at), 0);
}

/** Lines that are torn or not what was written: what they told of is not known. */
export function countDamagedLines(segments: readonly Segment[]): number {
  return segments.reduce((sum, { lines }) => sum + lines.filter(({ type }) => type === "damaged").length, 0);
}
