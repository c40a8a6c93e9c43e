import { lastOfType } from "./entries-by-type.ts";
import type { CompactionEntry, PruneEntry, SessionEntry } from "./types.ts";

interface RestoredPath {
  length: number;
  restored: readonly SessionEntry[];
}

// A context is built several times per request: the same array of the same length gives the same result.
const restoredPaths = new WeakMap<readonly SessionEntry[], RestoredPath>();

/**
 * The branch as if its undone compactions had never been made. Messages that followed such a compaction stay; what was
 * pruned since then in the part before it is whole again. An undo entry stays only if messages precede it since its
 * compaction: their usage describes another context. A branch without such entries is returned itself.
 * @param path the entries of one branch from its root on.
 */
export function withoutUndone(path: readonly SessionEntry[]): readonly SessionEntry[] {
  if (lastOfType(path, "compaction_undo") === undefined) return path;
  const known = restoredPaths.get(path);
  if (known?.length === path.length) return known.restored;
  const restored = restorePath(path);
  restoredPaths.set(path, { length: path.length, restored });
  return restored;
}

/** The compaction that is undone next: the last of the branch that is not undone yet. */
export function findUndoable(path: readonly SessionEntry[]): CompactionEntry | undefined {
  return lastOfType(withoutUndone(path), "compaction");
}

function restorePath(path: readonly SessionEntry[]): readonly SessionEntry[] {
  const restored: (SessionEntry | undefined)[] = [...path];
  for (const [position, entry] of path.entries()) {
    if (entry.type !== "compaction_undo") continue;
    const at = findCompaction(restored, position, entry.targetId);
    if (at === undefined) continue;
    restored[at] = undefined;
    const before = new Set(path.slice(0, at).map(({ id }) => id));
    let hasMessages = false;
    for (let between = at + 1; between < position; between++) {
      const other = restored[between];
      if (other?.type === "prune") restored[between] = withoutResults(other, before);
      if (other?.type === "message" || other?.type === "branch_summary") hasMessages = true;
    }
    if (!hasMessages) restored[position] = undefined;
  }
  const kept = restored.filter((entry) => entry !== undefined);
  return kept.length === path.length ? path : kept;
}

function findCompaction(
  path: readonly (SessionEntry | undefined)[],
  end: number,
  targetId: string,
): number | undefined {
  for (let position = end - 1; position >= 0; position--) {
    const entry = path[position];
    if (entry?.type === "compaction" && entry.id === targetId) return position;
  }
  return undefined;
}

/** Undefined if it shortens no other results. */
function withoutResults(prune: PruneEntry, ids: ReadonlySet<string>): PruneEntry | undefined {
  const isOther = (id: string) => !ids.has(id);
  const cleared = prune.cleared.filter(isOther);
  const trimmed = prune.trimmed.filter(isOther);
  if (cleared.length + trimmed.length === 0) return undefined;
  return { ...prune, cleared, trimmed };
}
