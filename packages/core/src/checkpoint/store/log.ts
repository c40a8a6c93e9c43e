import { mkdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { JsonlWriter } from "../../infrastructure/fs/jsonl-writer.ts";
import { listNames } from "../../infrastructure/fs/stat.ts";
import { isProcessAlive, ownIdentity } from "../../infrastructure/process/tree.ts";
import { now } from "../../infrastructure/runtime.ts";
import { readChangeRecord, type TreeChange, toChangeRecord } from "../entries.ts";
import type { OpenTurn, Restoring, Step } from "../types.ts";
import { listGenerations, sessionOf, sizeOf } from "./location.ts";

/** The first line of a log. */
interface SegmentHeader {
  /** Orders the logs of one session. */
  at: number;
  pid: number;
  startTime?: string | undefined;
  sessionId: string;
  root: string;
  rootIdentity?: string | undefined;
}

/** One line of a log; the first one of a file is its header. */
export type SegmentLine =
  | { type: "checkpoints"; version: 1; header: SegmentHeader }
  | { type: "open"; open: OpenTurn }
  | { type: "step"; step: Step }
  | { type: "restoring"; restoring: Restoring }
  /** Truncated or corrupted. */
  | { type: "damaged" };

// With eight digits, one damaged line in four billion is not detected.
const SUM_DIGITS = 8;
const SUM = /,"sum":"([0-9a-f]{8})"\}$/;

/** A line as JSON, whose last field is a checksum of everything before it. */
function toSegmentLine(line: SegmentLine): object {
  const value = toFields(line);
  return { ...value, sum: sumOf(JSON.stringify(value)) };
}

function sumOf(text: string): string {
  return Bun.SHA256.hash(text, "hex").slice(0, SUM_DIGITS);
}

function toFields(line: SegmentLine): object {
  switch (line.type) {
    case "checkpoints":
    case "damaged":
      return line;
    case "restoring":
      return {
        ...line,
        restoring: { ...line.restoring, changes: line.restoring.changes.map(toChangeRecord) },
      };
    case "open":
      return { ...line, open: { ...line.open, ...toRecords(line.open) } };
    case "step":
      return { ...line, step: { ...line.step, ...toRecords(line.step) } };
  }
}

function toRecords({ changes, foreign, arrived }: Pick<Step, "changes" | "foreign" | "arrived">): object {
  return {
    changes: changes.map(toChangeRecord),
    ...(foreign && { foreign: foreign.map(toChangeRecord) }),
    ...(arrived && { arrived: arrived.map(toChangeRecord) }),
  };
}

/** Undefined for a line of an unknown kind. */
function parseSegmentLine(text: string): SegmentLine | undefined {
  const sum = SUM.exec(text);
  if (!sum || sumOf(`${text.slice(0, sum.index)}}`) !== sum[1]) return { type: "damaged" };
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? readLine(value) : undefined;
  } catch {
    return { type: "damaged" };
  }
}

function readLine({ type, version, header, open, step, restoring }: Fields): SegmentLine | undefined {
  if (type === "checkpoints")
    return version === 1 && isHeader(header) ? { type, version, header } : undefined;
  if (type === "open") {
    const changes = isOpen(open) ? readChanges(open.changes) : undefined;
    const arrived = isOpen(open) ? readChanges(open.arrived ?? []) : undefined;
    return isOpen(open) && changes && arrived ? { type, open: { ...open, changes, arrived } } : undefined;
  }
  if (type === "step") {
    if (!isStep(step)) return undefined;
    const [changes, foreign, arrived] = [step.changes, step.foreign ?? [], step.arrived ?? []].map(
      readChanges,
    );
    return changes && foreign && arrived ? { type, step: { ...step, changes, foreign, arrived } } : undefined;
  }
  if (type !== "restoring" || !isRestoring(restoring)) return undefined;
  const changes = readChanges(restoring.changes);
  return changes && { type, restoring: { ...restoring, changes } };
}

type Fields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function readChanges(records: unknown): TreeChange[] | undefined {
  if (!Array.isArray(records)) return undefined;
  const changes = records.map(readChangeRecord);
  const read = changes.filter((change) => change !== undefined);
  return read.length === changes.length ? read : undefined;
}

function isHeader(value: unknown): value is SegmentHeader {
  if (!isRecord(value)) return false;
  const { at, pid, sessionId, root } = value;
  return [typeof at, typeof pid].every((type) => type === "number") && isText(sessionId) && isText(root);
}

function isOpen(
  value: unknown,
): value is Omit<OpenTurn, "changes" | "arrived"> & { changes: unknown; arrived?: unknown } {
  return (
    isRecord(value) && typeof value.at === "number" && isText(value.run) && isOptionalText(value.entryId)
  );
}

const KINDS: ReadonlySet<unknown> = new Set(["run", "undo", "redo", "jump", "partial"]);

function isStep(value: unknown): value is Omit<Step, "changes" | "foreign" | "arrived"> & {
  changes: unknown;
  foreign?: unknown;
  arrived?: unknown;
} {
  if (!isRecord(value) || typeof value.at !== "number" || !isText(value.id) || !KINDS.has(value.kind))
    return false;
  return [value.run, value.entryId, value.to].every(isOptionalText);
}

const MOVES: ReadonlySet<unknown> = new Set(["undo", "redo", "jump"]);

function isRestoring(value: unknown): value is Omit<Restoring, "changes"> & { changes: unknown } {
  if (!isRecord(value)) return false;
  const { id, to, at, move, temporaryName, directories, opened, inPlace } = value;
  if (typeof at !== "number" || !MOVES.has(move)) return false;
  if (![id, to].every(isText) || !isText(temporaryName)) return false;
  if (!/^\.diligent-[0-9a-f]{12}\.tmp$/.test(temporaryName)) return false;
  if (!Array.isArray(directories) || !directories.every(isText)) return false;
  if (!Array.isArray(inPlace) || !inPlace.every(isText)) return false;
  return Array.isArray(opened) && opened.every(isOpened);
}

function isOpened(value: unknown): boolean {
  return Array.isArray(value) && isText(value[0]) && typeof value[1] === "number";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || isText(value);
}

/** The changes after the last heartbeat of a killed process do not count as its work. */
const HEARTBEAT_MS = 250;

/** The log of one process about one session. The file is created with its first line. */
export class SegmentWriter {
  private readonly file: JsonlWriter;
  private isBegun = false;
  private heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor(
    readonly path: string,
    private readonly makeHeader: () => SegmentHeader,
  ) {
    this.file = new JsonlWriter(path);
  }

  get isEmpty(): boolean {
    return !this.isBegun;
  }

  /** @throws Error, which names the file, when the line could not be written completely. */
  append(line: SegmentLine): void {
    if (!this.isBegun) {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      this.write({ type: "checkpoints", version: 1, header: this.makeHeader() });
      this.isBegun = true;
    }
    this.write(line);
  }

  /** Touches the file regularly to show that its process still works, until `stopHeartbeat` or `close`. */
  startHeartbeat(): void {
    this.heartbeat ??= setInterval(() => this.beat(), HEARTBEAT_MS);
    this.heartbeat.unref();
  }

  stopHeartbeat(): void {
    clearInterval(this.heartbeat);
    this.heartbeat = undefined;
  }

  close(): void {
    this.stopHeartbeat();
    this.file.close();
  }

  private beat(): void {
    try {
      const seconds = now() / 1000;
      utimesSync(this.path, seconds, seconds);
    } catch {
      // Deleted, or the disk reports an error: the next write reports it.
    }
  }

  private write(line: SegmentLine): void {
    // A disk that became full in the middle of the line rejects the second attempt.
    while (this.file.append(toSegmentLine(line)) === 0);
  }
}

/** The lines that one process has written about a session. */
export interface Segment {
  /** Absolute path of its log. */
  path: string;
  header: SegmentHeader;
  /** In writing order. */
  lines: readonly SegmentLine[];
  /** True while another process that writes it is running. */
  isHeldByOther: boolean;
}

/** The logs of a session in all the given generations, the oldest first. */
export function readSegments(generations: readonly string[], sessionId: string): Segment[] {
  const segments = generations.flatMap((generation) => {
    const directory = sessionOf(generation, sessionId);
    const names = listNames(directory).filter((name) => name.endsWith(".jsonl"));
    return names.flatMap((name) => readSegment(join(directory, name)) ?? []);
  });
  return segments.sort((left, right) => left.header.at - right.header.at);
}

/** Undefined for a file that is not a log. */
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
    return ""; // Deleted just now with its directory.
  }
}

/** The path of a log's base: the entries of the project when the log was started. */
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

/** A turn whose changes were not recorded: it is still running, or its process has died. */
export function findOpenTurn({ lines }: Segment): OpenTurn | undefined {
  const last = lines.findLast(
    (line) => line.type === "open" || (line.type === "step" && line.step.kind === "run"),
  );
  return last?.type === "open" ? last.open : undefined;
}

/** Restorations that were started and not recorded as finished. */
interface UnfinishedRestorings {
  /** No step has followed in the session: they can be continued. */
  current: readonly Restoring[];
  /** Their changes can no longer be told apart from later ones. */
  superseded: readonly Restoring[];
}

/** Finds the restorations that were started and never finished. */
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

/** The time of the last line of a session: the next one must be later, whatever the clock says. */
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

/** Counts truncated and corrupted lines, whose contents are unknown. */
export function countDamagedLines(segments: readonly Segment[]): number {
  return segments.reduce((sum, { lines }) => sum + lines.filter(({ type }) => type === "damaged").length, 0);
}

/** The session whose logs are checked, and the log to ignore. */
interface OtherSegmentsOptions {
  /** The directory of a project's checkpoints. */
  project: string;
  sessionId: string;
  /** The log of this process. */
  ownPath: string;
}

/** Detects lines that other processes write about a session while this one works in it. */
export class OtherSegments {
  /** The total size in bytes at the last check. */
  private size = 0;

  constructor(private readonly options: OtherSegmentsOptions) {}

  /** The latest time (milliseconds) in any log of the session, if another process has written one; else undefined. */
  findNewTime(): number | undefined {
    const { project, sessionId, ownPath } = this.options;
    const generations = listGenerations(project);
    const all = generations.reduce((sum, each) => sum + sizeOf(sessionOf(each, sessionId)), 0);
    const size = all - (statSync(ownPath, { throwIfNoEntry: false })?.size ?? 0);
    if (size === this.size) return undefined;
    this.size = size;
    return lastTimeOf(readSegments(generations, sessionId));
  }
}
