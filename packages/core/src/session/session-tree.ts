import type { SessionEntry } from "./types.ts";

/** Entries that a conversation can go on from; the others only say something about it. */
const CONTINUABLE: ReadonlySet<SessionEntry["type"]> = new Set(["message", "model_change", "unknown"]);

/** Where a session goes on when it is opened: its last entry that belongs to a conversation. */
export function findLeafId(entries: readonly SessionEntry[]): string | null {
  return entries.findLast((entry) => CONTINUABLE.has(entry.type))?.id ?? null;
}

/** The entries from the root to `leafId` (the last entry when left out), oldest first. */
export function pathTo(entries: readonly SessionEntry[], leafId?: string | null): SessionEntry[] {
  if (leafId === null) return [];
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: SessionEntry[] = [];
  let current = leafId === undefined ? entries.at(-1) : byId.get(leafId);
  while (current) {
    path.push(current);
    // A file that names an entry as its own ancestor must not hang us.
    byId.delete(current.id);
    current = current.parentId === null ? undefined : byId.get(current.parentId);
  }
  return path.reverse();
}

/** The model a conversation was last held with; undefined before the first answer. */
export function findLastModelId(path: readonly SessionEntry[]): string | undefined {
  for (const entry of path.toReversed()) {
    if (entry.type === "model_change") return entry.modelId;
    if (entry.type === "message" && entry.message.role === "assistant") return entry.message.model;
  }
  return undefined;
}
