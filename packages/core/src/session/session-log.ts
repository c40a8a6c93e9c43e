import { now } from "../infrastructure/clock.ts";
import { generateEntryId } from "../infrastructure/ids.ts";
import type { DeferredWriter } from "./deferred-writer.ts";
import { packUnsentOutputs } from "./pack-outputs.ts";
import { findLeafId, pathTo } from "./session-tree.ts";
import type { SessionEntry } from "./types.ts";

/** An entry's place in the tree. */
export type EntryPlace = Pick<SessionEntry, "id" | "parentId" | "timestamp">;

/** The entries of one session and the place where its conversation goes on. Entries are only ever added. */
export class SessionLog {
  readonly entries: SessionEntry[];
  private readonly ids: Set<string>;
  private leaf: string | null;
  /** The entries from the root to the leaf, once somebody has asked for them. */
  private knownPath: SessionEntry[] | undefined;

  constructor(
    private readonly writer: DeferredWriter | undefined,
    entries: readonly SessionEntry[] = [],
  ) {
    this.entries = [...entries];
    this.ids = new Set(entries.map(({ id }) => id));
    this.leaf = findLeafId(entries);
  }

  /** The entry the next one follows; null at the beginning. */
  get leafId(): string | null {
    return this.leaf;
  }

  /** Adds an entry behind the leaf and goes on from it. */
  append<E extends SessionEntry>(make: (place: EntryPlace) => E): E {
    const entry = this.annotate(make);
    this.leaf = entry.id;
    this.knownPath?.push(entry);
    if (entry.type === "compaction" || entry.type === "prune") packUnsentOutputs(this.path());
    return entry;
  }

  /** Adds an entry that says something about the session and is no part of the conversation. */
  annotate<E extends SessionEntry>(make: (place: EntryPlace) => E): E {
    const timestamp = new Date(now()).toISOString();
    const entry = make({ id: this.newId(), parentId: this.leaf, timestamp });
    this.entries.push(entry);
    this.writer?.write(entry);
    return entry;
  }

  /** The conversation's entries, oldest first; the same list again as long as the conversation only grows. */
  path(): readonly SessionEntry[] {
    this.knownPath ??= pathTo(this.entries, this.leaf);
    return this.knownPath;
  }

  /** Goes on from an earlier entry, so that what follows grows a new branch. @throws Error when there is none. */
  moveTo(entryId: string | null): void {
    if (entryId !== null) this.assertHas(entryId);
    this.leaf = entryId;
    this.knownPath = undefined;
  }

  has(entryId: string): boolean {
    return this.ids.has(entryId);
  }

  /** Takes over what another process has added to the session's file, and goes on behind `leafId`, one of it. */
  adopt(entries: readonly SessionEntry[], leafId: string): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.ids.add(entry.id);
    }
    this.moveTo(leafId);
  }

  /** @throws Error when there is no such entry. */
  assertHas(entryId: string): void {
    if (!this.ids.has(entryId)) throw new Error(`This session has no entry ${entryId}.`);
  }

  private newId(): string {
    let id = generateEntryId();
    while (this.ids.has(id)) id = generateEntryId();
    this.ids.add(id);
    return id;
  }
}
