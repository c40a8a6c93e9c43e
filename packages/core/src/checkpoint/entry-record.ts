import type { TreeChange, TreeEntry } from "./tree-entry.ts";

/** An entry as files hold it: `["f", mode, size, modified, changed, inode, hash or null, 1 if fresh]` and the like. */
export type EntryRecord = readonly (string | number | null)[];

export type ChangeRecord = readonly [path: string, before: EntryRecord | null, after: EntryRecord | null];

export function toEntryRecord(entry: TreeEntry): EntryRecord {
  switch (entry.kind) {
    case "file": {
      const { mode, size, modifiedMs, changedMs, inode, hash = null } = entry;
      return ["f", mode, size, modifiedMs, changedMs, inode, hash, ...(entry.isFresh ? [1] : [])];
    }
    case "link":
      return ["l", entry.target];
    case "directory":
      return ["d", entry.mode];
    case "cache":
      return ["c", entry.signature];
    case "control":
      return ["k", ...entry.parts];
  }
}

/** Undefined for what is none. */
export function readEntryRecord(record: unknown): TreeEntry | undefined {
  if (!Array.isArray(record)) return undefined;
  const [kind, first, size, modifiedMs, changedMs, inode, hash, fresh]: unknown[] = record;
  if (kind === "l") return typeof first === "string" ? { kind: "link", target: first } : undefined;
  if (kind === "c") return typeof first === "string" ? { kind: "cache", signature: first } : undefined;
  if (kind === "k")
    return { kind: "control", parts: record.slice(1).filter((part) => typeof part === "string") };
  if (typeof first !== "number") return undefined;
  if (kind === "d") return { kind: "directory", mode: first };
  if (kind !== "f" || typeof size !== "number" || typeof modifiedMs !== "number") return undefined;
  if (typeof changedMs !== "number" || typeof inode !== "number") return undefined;
  if (hash !== null && !(typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash))) return undefined;
  const file = {
    kind: "file" as const,
    mode: first,
    size,
    modifiedMs,
    changedMs,
    inode,
    hash: hash ?? undefined,
  };
  return fresh === 1 ? { ...file, isFresh: true } : file;
}

export function toChangeRecord({ path, before, after }: TreeChange): ChangeRecord {
  return [path, before ? toEntryRecord(before) : null, after ? toEntryRecord(after) : null];
}

/** Undefined for what is none. */
export function readChangeRecord(record: unknown): TreeChange | undefined {
  if (!Array.isArray(record)) return undefined;
  const [path, before, after]: unknown[] = record;
  if (typeof path !== "string" || !isPathInside(path)) return undefined;
  const change = { path, before: readEntryRecord(before), after: readEntryRecord(after) };
  const isWhole = isRead(before, change.before) && isRead(after, change.after);
  return isWhole ? change : undefined;
}

function isRead(record: unknown, entry: TreeEntry | undefined): boolean {
  return record === null ? entry === undefined : entry !== undefined;
}

/** False for what would lead out of the project: no name is empty, `.` or `..`. */
export function isPathInside(path: string): boolean {
  return path
    .split("/")
    .every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\0"));
}
