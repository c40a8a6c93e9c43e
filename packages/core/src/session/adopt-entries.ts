import type { OpenSession } from "./open-session.ts";
import { readSessionFile } from "./read-session-file.ts";
import { isContinuable } from "./session-tree.ts";
import type { SessionEntry } from "./types.ts";

/** `compaction`: only when a compaction is among what follows our leaf; otherwise there are two branches. */
export type AdoptionRule = "always" | "compaction";

/**
 * Goes on behind what other processes have added behind our leaf since the file was read, as whoever opens the session
 * now would. False when there is nothing of the kind.
 * @throws SessionFileError and errors of the file system; nothing has changed then.
 */
export function adoptEntries(
  { log, writer }: Pick<OpenSession, "log" | "writer">,
  rule: AdoptionRule,
): boolean {
  const path = writer?.path;
  if (!writer || !path || !writer.hasGrown || log.leafId === null) return false;
  const { entries, size } = readSessionFile(path);
  const added = entries.filter(({ id }) => !log.has(id));
  const leafId = findLeafBehind(log.leafId, added, rule);
  if (leafId === undefined) return false;
  log.adopt(added, leafId);
  writer.adopt(added, size);
  return true;
}

/** The last of the added entries that a conversation behind `leafId` ends with. */
function findLeafBehind(
  leafId: string,
  added: readonly SessionEntry[],
  rule: AdoptionRule,
): string | undefined {
  // For each entry that descends from the leaf: whether it will do.
  const behind = new Map<string, boolean>([[leafId, rule === "always"]]);
  let found: string | undefined;
  for (const entry of added) {
    const isParentEnough = entry.parentId === null ? undefined : behind.get(entry.parentId);
    if (isParentEnough === undefined) continue;
    const isEnough = isParentEnough || entry.type === "compaction";
    behind.set(entry.id, isEnough);
    if (isEnough && isContinuable(entry)) found = entry.id;
  }
  return found;
}
