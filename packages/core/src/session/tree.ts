import type { SessionEntry } from "./types.ts";

/** Entry types from which a conversation continues when it is opened; all others are metadata. */
const CONTINUABLE: ReadonlySet<unknown> = new Set([
  "message",
  "compaction",
  "compaction_undo",
  "model_change",
  "branch_summary",
  "prune",
]);

/** The entry after which a session continues when it is opened: the last one that belongs to a conversation. */
export function findLeafId(entries: readonly SessionEntry[]): string | null {
  let leaf = entries.findLast(isContinuable);
  // Only in a file with reordered lines does an entry precede its parent.
  const children = leaf && hasChild(entries, leaf) ? lastChildren(entries) : undefined;
  for (let child = leaf && children?.get(leaf.id); child; child = children?.get(child.id)) {
    children?.delete(child.parentId);
    leaf = child;
  }
  return leaf?.id ?? null;
}

/**
 * The entries from the root to `leafId` (the last entry when left out), oldest first. If an entry's parent is
 * missing because its line was damaged, the path continues with the previous entry in the file.
 */
export function pathTo(entries: readonly SessionEntry[], leafId?: string | null): SessionEntry[] {
  if (leafId === null) return [];
  const tree = new ParentFinder(entries);
  const path: SessionEntry[] = [];
  // A file that names an entry as its own ancestor must not cause an endless loop.
  const isVisited = new Uint8Array(entries.length);
  let position = leafId === undefined ? entries.length - 1 : tree.positionOf(leafId);
  for (let entry = entries[position]; entry && !isVisited[position]; entry = entries[position]) {
    isVisited[position] = 1;
    path.push(entry);
    position = tree.parentOf(entry, position);
  }
  return path.reverse();
}

/** The model that a conversation used last; undefined before the first answer. */
export function findLastModelId(path: readonly SessionEntry[]): string | undefined {
  for (const entry of path.toReversed()) {
    if (entry.type === "model_change") return entry.modelId;
    if (entry.type === "message" && entry.message.role === "assistant") return entry.message.model;
  }
  return undefined;
}

/** The position of a missing parent. */
const NO_POSITION = -1;

/**
 * Finds parents by position. Most entries follow their parent directly, so the index is only built when one does
 * not.
 */
class ParentFinder {
  private index: Map<string, number[]> | undefined;

  constructor(private readonly entries: readonly SessionEntry[]) {}

  positionOf(id: string): number {
    if (this.entries.at(-1)?.id === id) return this.entries.length - 1;
    return this.positionsOf(id).at(-1) ?? NO_POSITION;
  }

  parentOf({ parentId }: SessionEntry, position: number): number {
    if (parentId === null) return NO_POSITION;
    if (this.entries[position - 1]?.id === parentId) return position - 1;
    const positions = this.positionsOf(parentId);
    // Two processes may have generated the same id: the nearest earlier entry is used.
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

/** True for an entry after which a conversation can continue. */
export function isContinuable(entry: SessionEntry): boolean {
  return CONTINUABLE.has(entry.type === "unknown" ? entry.raw.type : entry.type);
}

function hasChild(entries: readonly SessionEntry[], parent: SessionEntry): boolean {
  return entries.some((entry) => entry.parentId === parent.id && isContinuable(entry));
}

function lastChildren(entries: readonly SessionEntry[]): Map<string | null, SessionEntry> {
  return new Map(entries.filter(isContinuable).map((entry) => [entry.parentId, entry]));
}

/** An entry with its children; several if the conversation branches. */
export interface SessionTreeNode {
  entry: SessionEntry;
  /** In the order of the file. */
  children: SessionTreeNode[];
}

/**
 * The entries of a file as trees, one for each first entry. An entry without a known parent is placed as `pathTo`
 * does; among entries that name each other as ancestors the first one is a root. The tree may be thousands of
 * levels deep: traverse it with a stack.
 */
export function buildSessionTree(entries: readonly SessionEntry[]): SessionTreeNode[] {
  const parents = findParents(entries);
  const nodes = entries.map((entry): SessionTreeNode => ({ entry, children: [] }));
  return nodes.filter((node, position) => {
    const parent = nodes[parents[position] ?? NO_POSITION];
    parent?.children.push(node);
    return parent === undefined;
  });
}

/** The position of each entry's parent, without cycles. */
function findParents(entries: readonly SessionEntry[]): number[] {
  const finder = new ParentFinder(entries);
  const parents = entries.map((entry, position) => finder.parentOf(entry, position));
  const walks = new Int32Array(entries.length);
  for (let walk = 1; walk <= entries.length; walk++) {
    let position = walk - 1;
    while (walks[position] === 0) {
      walks[position] = walk;
      const parent = parents[position] ?? NO_POSITION;
      if (walks[parent] === walk) parents[position] = NO_POSITION;
      position = parent;
    }
  }
  return parents;
}
