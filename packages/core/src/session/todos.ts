import type { TodoItem } from "../types.ts";
import { entriesOfType } from "./entries-by-type.ts";
import type { SessionLog } from "./log.ts";
import type { SessionEntry, TodoEntry } from "./types.ts";

/** The last checklist that was set on the conversation's branch; empty if there is none. */
export function findTodos(log: Pick<SessionLog, "path" | "entries">): readonly TodoItem[] {
  return todoEntriesOn(log.path(), log.entries).at(-1)?.todos ?? [];
}

/** Sets the checklist of the conversation from here on; an empty one removes it. */
export function saveTodos(log: SessionLog, todos: readonly TodoItem[]): TodoEntry {
  return log.annotate((location) => ({ type: "todo", ...location, todos: [...todos] }));
}

/** The checklists among `entries` that were set on the branch `path`, oldest first. */
export function todoEntriesOn(path: readonly SessionEntry[], entries: readonly SessionEntry[]): TodoEntry[] {
  const found = entriesOfType(entries, "todo");
  if (found.length === 0) return [];
  const ids = new Set(path.map(({ id }) => id));
  return found.filter(({ parentId }) => parentId === null || ids.has(parentId));
}
