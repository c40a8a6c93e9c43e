import type { SessionLog } from "./session-log.ts";
import type { SessionEntry } from "./types.ts";

/** The labels that entries have now, by the ids of the entries. */
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
 * Marks an entry, for finding it again; a blank label takes the mark away.
 * @throws Error when there is no such entry.
 */
export function labelEntry(log: SessionLog, targetId: string, label: string): void {
  log.assertHas(targetId);
  const given = label.trim();
  log.annotate((place) => ({ type: "label", ...place, targetId, ...(given !== "" && { label: given }) }));
}

/** Gives the session a name; without one, or a blank one, it has none any more. */
export function nameSession(log: SessionLog, name: string | undefined): void {
  const given = name?.trim() ? { name } : {};
  log.annotate((place) => ({ type: "session_info", ...place, ...given }));
}

/** The name that was given to a session last; undefined without one. */
export function findSessionName(entries: readonly SessionEntry[]): string | undefined {
  const last = entries.findLast((entry) => entry.type === "session_info");
  return last?.name?.trim() ? last.name : undefined;
}
