import type { Redactor } from "../agent/types.ts";
import { generateEntryId, now } from "../infrastructure/runtime.ts";
import type { Effort } from "../provider/types.ts";
import { packUnsentOutputs } from "./context-builder.ts";
import { lastOfType } from "./entries-by-type.ts";
import type { SessionFile } from "./read-file.ts";
import { findLeafId, pathTo } from "./tree.ts";
import type { CustomEntry, SessionEntry, SettingsEntry } from "./types.ts";
import { withoutUndone } from "./undone-compactions.ts";
import type { DeferredWriter } from "./writer.ts";

/** An entry's position in the tree. */
type EntryLocation = Pick<SessionEntry, "id" | "parentId" | "timestamp">;

/**
 * The entries of one session and its current leaf, after which the conversation continues. Entries are only added,
 * never changed.
 */
export class SessionLog {
  readonly entries: SessionEntry[];
  private readonly ids: Set<string>;
  private leaf: string | null;
  /** The entries from the root to the leaf, computed on first use. */
  private knownPath: SessionEntry[] | undefined;

  constructor(
    private readonly writer: DeferredWriter | undefined,
    entries: readonly SessionEntry[] = [],
    /** Redacts secrets in every added entry. */
    readonly redactor?: Redactor | undefined,
    /** An id for an entry; another one is asked for where it is taken. */
    private readonly createId: () => string = generateEntryId,
  ) {
    this.entries = [...entries];
    this.ids = new Set(entries.map(({ id }) => id));
    this.leaf = findLeafId(entries);
  }

  /** The parent of the next entry; null at the beginning. */
  get leafId(): string | null {
    return this.leaf;
  }

  /** Adds an entry after the leaf, which becomes the new leaf. */
  append<E extends SessionEntry>(make: (location: EntryLocation) => E): E {
    const entry = this.annotate(make);
    this.leaf = entry.id;
    this.knownPath?.push(entry);
    if (entry.type === "compaction" || entry.type === "prune") packUnsentOutputs(this.path());
    return entry;
  }

  /** Adds an entry with metadata about the session that is not part of the conversation. */
  annotate<E extends SessionEntry>(make: (location: EntryLocation) => E): E {
    const timestamp = new Date(now()).toISOString();
    const made = make({ id: this.newId(), parentId: this.leaf, timestamp });
    const entry = this.redactor?.redact(made) ?? made;
    this.entries.push(entry);
    this.writer?.write(entry);
    return entry;
  }

  /** The conversation's entries, oldest first; the same array as long as the conversation only grows. */
  path(): readonly SessionEntry[] {
    this.knownPath ??= pathTo(this.entries, this.leaf);
    return this.knownPath;
  }

  /** The conversation's entries as if its undone compactions had not been made; see `withoutUndone`. */
  conversation(): readonly SessionEntry[] {
    return withoutUndone(this.path());
  }

  /**
   * Moves the leaf to an earlier entry, so that later entries form a new branch. @throws Error if there is no such
   * entry.
   */
  moveTo(entryId: string | null): void {
    if (entryId !== null) this.assertHas(entryId);
    this.leaf = entryId;
    this.knownPath = undefined;
  }

  has(entryId: string): boolean {
    return this.ids.has(entryId);
  }

  /**
   * Adopts entries that another process has added to the session's file, and continues after `leafId`, one of them.
   */
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
    let id = this.createId();
    while (this.ids.has(id)) id = this.createId();
    this.ids.add(id);
    return id;
  }
}

/** The current labels of entries, by entry id. */
export function readLabels(entries: readonly SessionEntry[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "label") continue;
    if (entry.label === undefined) labels.delete(entry.targetId);
    else labels.set(entry.targetId, entry.label);
  }
  return labels;
}

/**
 * Labels an entry; a blank label removes the label.
 * @throws Error when there is no such entry.
 */
export function labelEntry(log: SessionLog, targetId: string, label: string): void {
  log.assertHas(targetId);
  const givenLabel = label.trim();
  log.annotate((location) => ({
    type: "label",
    ...location,
    targetId,
    ...(givenLabel !== "" && { label: givenLabel }),
  }));
}

/** Names the session; a missing or blank name removes the name. */
export function nameSession(log: SessionLog, name: string | undefined): void {
  const givenLabel = name?.trim() ? { name } : {};
  log.annotate((location) => ({ type: "session_info", ...location, ...givenLabel }));
}

/** The latest name of a session; undefined if it has none. */
export function findSessionName(entries: readonly SessionEntry[]): string | undefined {
  const last = lastOfType(entries, "session_info");
  return last?.name?.trim() ? last.name : undefined;
}

/**
 * Adds a program's own data after the last entry of the conversation.
 * @param data any JSON value; stored as JSON, so a `Date` becomes a string.
 * @returns the entry's id.
 * @throws Error for an empty type, and for a value that JSON cannot represent.
 */
export function appendCustomEntry(log: SessionLog, customType: string, data: unknown): string {
  if (customType.trim() === "") throw new Error("A custom entry needs a type, such as my-extension.state.");
  const copy = toJsonCopy(customType, data);
  return log.annotate((location) => ({ type: "custom", ...location, customType, data: copy })).id;
}

/** The custom entries of one type, oldest first; those of all types when it is left out. */
export function readCustomEntries(entries: readonly SessionEntry[], customType?: string): CustomEntry[] {
  return entries.flatMap((entry) => {
    const isMatch = entry.type === "custom" && (customType === undefined || entry.customType === customType);
    return isMatch ? [entry] : [];
  });
}

/** The custom entries among `entries` that follow an entry of the branch `path`, or precede everything. */
export function customEntriesOn(
  path: readonly SessionEntry[],
  entries: readonly SessionEntry[],
): CustomEntry[] {
  const ids = new Set(path.map(({ id }) => id));
  return readCustomEntries(entries).filter(({ parentId }) => parentId === null || ids.has(parentId));
}

function toJsonCopy(customType: string, data: unknown): unknown {
  const json = toJson(customType, data);
  if (json === undefined)
    throw new Error(`The data of the custom entry ${customType} is not a JSON value: it is ${typeof data}.`);
  const copy: unknown = JSON.parse(json);
  return copy;
}

function toJson(customType: string, data: unknown): string | undefined {
  try {
    return JSON.stringify(data);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The data of the custom entry ${customType} is not a JSON value: ${reason}`);
  }
}

/** The settings chosen last for a session; undefined if there are none. */
export function readSessionSettings(entries: readonly SessionEntry[]): SettingsEntry | undefined {
  return lastOfType(entries, "settings");
}

/** Saves the thinking level for later resumes, unless it is already saved. */
export function saveEffort(log: SessionLog, effort: Effort | undefined): void {
  if (readSessionSettings(log.entries)?.effort === effort) return;
  log.annotate((location) => ({ type: "settings", ...location, ...(effort !== undefined && { effort }) }));
}

/**
 * The id of the entry with this id, or with this label if only one entry has it.
 * @throws Error with the command that lists ids and labels.
 */
export function findEntryId(
  { header, entries }: Pick<SessionFile, "header" | "entries">,
  entry: string,
): string {
  if (entries.some(({ id }) => id === entry)) return entry;
  const labelled = [...readLabels(entries)].flatMap(([id, label]) => (label === entry ? [id] : []));
  const [found, ...more] = labelled;
  const listing = `diligent sessions show ${header.id} --entries`;
  if (found === undefined)
    throw new Error(
      `session ${header.id} has no entry ${entry}; ENTRY is an id of 8 hexadecimal digits or a label: see ${listing}`,
    );
  if (more.length > 0)
    throw new Error(`${labelled.length} entries have the label ${entry}; name one by its id: see ${listing}`);
  return found;
}
