import type { SessionEntry } from "./types.ts";

type EntryType = SessionEntry["type"];
/** Entries of these types are rare, and looked for at every request. */
type RareType = Exclude<EntryType, "message" | "unknown">;
type EntryOf<T extends EntryType> = Extract<SessionEntry, { type: T }>;

interface Index {
  /** The entries up to there have been looked at. */
  length: number;
  byType: Map<EntryType, SessionEntry[]>;
}

// The entries of a session and of a conversation only grow, so only those that were added are looked at.
const indexes = new WeakMap<readonly SessionEntry[], Index>();

/**
 * The entries of one type, in order.
 * @param entries a list to which entries are only added. The first call reads all of it.
 */
export function entriesOfType<T extends RareType>(
  entries: readonly SessionEntry[],
  type: T,
): readonly EntryOf<T>[] {
  const isOfType = (entry: SessionEntry): entry is EntryOf<T> => entry.type === type;
  return (indexOf(entries).byType.get(type) ?? []).filter(isOfType);
}

/** The last entry of one type; see `entriesOfType`. */
export function lastOfType<T extends RareType>(
  entries: readonly SessionEntry[],
  type: T,
): EntryOf<T> | undefined {
  return entriesOfType(entries, type).at(-1);
}

function indexOf(entries: readonly SessionEntry[]): Index {
  const known = indexes.get(entries);
  const index: Index = known && known.length <= entries.length ? known : { length: 0, byType: new Map() };
  for (; index.length < entries.length; index.length++) {
    const entry = entries[index.length];
    if (entry === undefined || entry.type === "message" || entry.type === "unknown") continue;
    const others = index.byType.get(entry.type);
    if (others) others.push(entry);
    else index.byType.set(entry.type, [entry]);
  }
  indexes.set(entries, index);
  return index;
}
