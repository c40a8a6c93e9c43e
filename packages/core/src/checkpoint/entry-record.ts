import type { Owned, TreeChange, TreeEntry } from "./tree-entry.ts";

/** An entry as files hold it: `["f", mode, size, modified, changed, inode, hash, 1 if fresh, uid, gid, links]` and the like. */
export type EntryRecord = readonly (string | number | null)[];

/** A change as files hold it; null for a side on which nothing was there. */
export type ChangeRecord = readonly [path: string, before: EntryRecord | null, after: EntryRecord | null];

/** What `readEntryRecord` reads again. */
export function toEntryRecord(entry: TreeEntry): EntryRecord {
  switch (entry.kind) {
    case "file": {
      const { mode, size, modifiedMs, changedMs, inode, hash = null, uid = null, gid = null } = entry;
      const freshness = entry.isFresh ? 1 : 0;
      const times = [modifiedMs, changedMs];
      return [
        "f",
        mode,
        size,
        ...times,
        inode,
        hash,
        freshness,
        uid,
        gid,
        ...(entry.links ? [entry.links] : []),
      ];
    }
    case "link":
      return ["l", entry.target];
    case "directory":
      return ["d", entry.mode, entry.uid ?? null, entry.gid ?? null];
    case "cache":
      return ["c", entry.signature];
    case "control":
      return ["k", ...entry.parts, ...(entry.mark === undefined ? [] : [entry.mark])];
  }
}

/** Undefined for what is none. */
export function readEntryRecord(record: unknown): TreeEntry | undefined {
  if (!Array.isArray(record)) return undefined;
  const [kind, first, size, modifiedMs, changedMs, inode, hash, fresh, uid, gid, links]: unknown[] = record;
  if (kind === "l") return typeof first === "string" ? { kind: "link", target: first } : undefined;
  if (kind === "c") return typeof first === "string" ? { kind: "cache", signature: first } : undefined;
  if (kind === "k") return readControl(record.slice(1));
  if (typeof first !== "number") return undefined;
  if (kind === "d") return { kind: "directory", mode: first, ...readOwner(record[2], record[3]) };
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
    ...readOwner(uid, gid),
    ...(typeof links === "number" && { links }),
  };
  return fresh === 1 ? { ...file, isFresh: true } : file;
}

function readControl(values: readonly unknown[]): TreeEntry {
  const mark = values.find((value) => typeof value === "number");
  const parts = values.filter((value) => typeof value === "string");
  return { kind: "control", parts, ...(mark !== undefined && { mark }) };
}

function readOwner(uid: unknown, gid: unknown): Owned {
  return { ...(typeof uid === "number" && { uid }), ...(typeof gid === "number" && { gid }) };
}

/** What `readChangeRecord` reads again. */
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
