import type { Effort } from "../provider/types.ts";
import type { SessionLog } from "./log.ts";
import type { CustomEntry, SessionEntry, SettingsEntry } from "./types.ts";

/**
 * Adds a program's own data after the last entry of the conversation.
 * @param data any JSON value; stored as JSON, so a `Date` becomes a string.
 * @returns the entry's id.
 * @throws Error for an empty type, and for a value that JSON cannot represent.
 */
export function appendCustomEntry(log: SessionLog, customType: string, data: unknown): string {
  if (customType.trim() === "") throw new Error("A custom entry needs a type, such as my-extension.state.");
  const copy = toJsonCopy(customType, data);
  return log.annotate((place) => ({ type: "custom", ...place, customType, data: copy })).id;
}

/** The custom entries of one type, oldest first; those of all types when it is left out. */
export function readCustomEntries(entries: readonly SessionEntry[], customType?: string): CustomEntry[] {
  return entries.flatMap((entry) => {
    const isMeant = entry.type === "custom" && (customType === undefined || entry.customType === customType);
    return isMeant ? [entry] : [];
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

/** The latest choice made for a session; undefined if there is none. */
export function readSessionSettings(entries: readonly SessionEntry[]): SettingsEntry | undefined {
  return entries.findLast((entry) => entry.type === "settings");
}

/** Saves the thinking level for later resumes; nothing if it is already the saved one. */
export function noteEffort(log: SessionLog, effort: Effort | undefined): void {
  if (readSessionSettings(log.entries)?.effort === effort) return;
  log.annotate((place) => ({ type: "settings", ...place, ...(effort !== undefined && { effort }) }));
}
