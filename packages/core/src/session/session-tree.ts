import type { SessionEntry } from "./types.ts";

/** Entries that a conversation goes on from when it is opened; the others only say something about it. */
const CONTINUABLE: ReadonlySet<unknown> = new Set([
  "message",
  "compaction",
  "model_change",
  "branch_summary",
  "prune",
]);

/** Where a session goes on when it is opened: the last entry that belongs to a conversation. */
export function findLeafId(entries: readonly SessionEntry[]): string | null {
  let leaf = entries.findLast(isContinuable);
  // Only in a file whose lines changed places an entry stands before its parent.
  const children = leaf && hasChild(entries, leaf) ? lastChildren(entries) : undefined;
  for (let child = leaf && children?.get(leaf.id); child; child = children?.get(child.id)) {
    children?.delete(child.parentId);
    leaf = child;
  }
  return leaf?.id ?? null;
}

/**
 * The entries from the root to `leafId` (the last entry when left out), oldest first. Where an entry's parent is
 * missing, since its line was damaged, the path goes on with the entry before it in the file.
 */
export function pathTo(entries: readonly SessionEntry[], leafId?: string | null): SessionEntry[] {
  if (leafId === null) return [];
  const tree = new ParentFinder(entries);
  const path: SessionEntry[] = [];
  // A file that names an entry as its own ancestor must not hang us.
  const isPassed = new Uint8Array(entries.length);
  let position = leafId === undefined ? entries.length - 1 : tree.positionOf(leafId);
  for (let entry = entries[position]; entry && !isPassed[position]; entry = entries[position]) {
    isPassed[position] = 1;
    path.push(entry);
    position = tree.parentOf(entry, position);
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

/** The position of a parent that an entry does not have. */
export const NOWHERE = -1;

/** Finds parents by position. Most entries follow their parent directly, so the index is only made when one does not. */
export class ParentFinder {
  private index: Map<string, number[]> | undefined;

  constructor(private readonly entries: readonly SessionEntry[]) {}

  positionOf(id: string): number {
    if (this.entries.at(-1)?.id === id) return this.entries.length - 1;
    return this.positionsOf(id).at(-1) ?? NOWHERE;
  }

  parentOf({ parentId }: SessionEntry, position: number): number {
    if (parentId === null) return NOWHERE;
    if (this.entries[position - 1]?.id === parentId) return position - 1;
    const positions = this.positionsOf(parentId);
    // Two processes may have drawn the same id: the nearer one before it is meant.
    return positions.findLast((each) => each < position) ?? positions[0] ?? this.entryBefore(position);
  }

  private entryBefore(position: number): number {
    let before = position - 1;
    for (let entry = this.entries[before]; entry && !isContinuable(entry); entry = this.entries[before])
      before--;
    return before;
  }

  private positionsOf(id: string): readonly number[] {
    this.index ??= indexById(this.entries);
    return this.index.get(id) ?? [];
  }
}

function indexById(entries: readonly SessionEntry[]): Map<string, number[]> {
  const index = new Map<string, number[]>();
  for (const [position, { id }] of entries.entries()) {
    const positions = index.get(id);
    if (positions) positions.push(position);
    else index.set(id, [position]);
  }
  return index;
}

/** True for what a conversation can go on behind. */
export function isContinuable(entry: SessionEntry): boolean {
  return CONTINUABLE.has(entry.type === "unknown" ? entry.raw.type : entry.type);
}

function hasChild(entries: readonly SessionEntry[], parent: SessionEntry): boolean {
  return entries.some((entry) => entry.parentId === parent.id && isContinuable(entry));
}

function lastChildren(entries: readonly SessionEntry[]): Map<string | null, SessionEntry> {
  return new Map(entries.filter(isContinuable).map((entry) => [entry.parentId, entry]));
}
