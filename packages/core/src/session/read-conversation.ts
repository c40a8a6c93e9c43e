import { buildSessionContext, type SessionContext } from "./context-builder.ts";
import type { SessionFile } from "./read-session-file.ts";
import { findLastModelId, findLeafId, pathTo } from "./session-tree.ts";
import type { SessionEntry } from "./types.ts";

/** The conversation that would be gone on with. */
export interface Conversation extends SessionContext {
  /** The model it was last held with; undefined before the first answer. */
  lastModelId?: string | undefined;
  /** Its entries from the root on, what was summarised included. */
  path: readonly SessionEntry[];
}

/** The conversation of a file as it would be gone on with: the branch of its last entry. */
export function readConversation({ entries }: Pick<SessionFile, "entries">): Conversation {
  const leafId = findLeafId(entries);
  const context = buildSessionContext(entries, leafId);
  const path = pathTo(entries, leafId);
  return { ...context, path, lastModelId: findLastModelId(path) };
}
