import { readChangeRecord, toChangeRecord } from "../entry-record.ts";
import type { OpenTurn, Restoring, Step } from "../timeline/types.ts";
import type { TreeChange } from "../tree-entry.ts";

/** The first line of a log. */
export interface SegmentHeader {
  /** For the order of the logs of one session. */
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
  /** Torn, or no longer what was written. */
  | { type: "damaged" };

// Eight digits: a damage that they miss is one in four thousand million.
const SUM_DIGITS = 8;
const SUM = /,"sum":"([0-9a-f]{8})"\}$/;

/** A line as the JSON value that stands in the file; its last field is a checksum of everything before. */
export function toSegmentLine(line: SegmentLine): object {
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
      return { ...line, open: { ...line.open, changes: line.open.changes.map(toChangeRecord) } };
    case "step":
      return { ...line, step: { ...line.step, ...toRecords(line.step) } };
  }
}

function toRecords({ changes, foreign }: Pick<Step, "changes" | "foreign">): object {
  return { changes: changes.map(toChangeRecord), ...(foreign && { foreign: foreign.map(toChangeRecord) }) };
}

/** Undefined for a line of a kind that this program does not know. */
export function parseSegmentLine(text: string): SegmentLine | undefined {
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
    return isOpen(open) && changes ? { type, open: { ...open, changes } } : undefined;
  }
  if (type === "step") {
    const changes = isStep(step) ? readChanges(step.changes) : undefined;
    const foreign = isStep(step) ? readChanges(step.foreign ?? []) : undefined;
    return isStep(step) && changes && foreign ? { type, step: { ...step, changes, foreign } } : undefined;
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

function isOpen(value: unknown): value is Omit<OpenTurn, "changes"> & { changes: unknown } {
  return (
    isRecord(value) && typeof value.at === "number" && isText(value.run) && isOptionalText(value.entryId)
  );
}

const KINDS: ReadonlySet<unknown> = new Set(["run", "undo", "redo", "jump", "partial"]);

function isStep(
  value: unknown,
): value is Omit<Step, "changes" | "foreign"> & { changes: unknown; foreign?: unknown } {
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
