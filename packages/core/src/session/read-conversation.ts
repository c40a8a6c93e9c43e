import { buildSessionContext, type SessionContext } from "./context-builder.ts";
import type { SessionFile } from "./read-session-file.ts";
import { findLastModelId, findLeafId, pathTo } from "./session-tree.ts";

/** The conversation that would be gone on with. */
export interface Conversation extends SessionContext {
  /** The model it was last held with; undefined before the first answer. */
  lastModelId?: string | undefined;
}

export function readConversation({ entries }: Pick<SessionFile, "entries">): Conversation {
  const leafId = findLeafId(entries);
  const context = buildSessionContext(entries, leafId);
  return { ...context, lastModelId: findLastModelId(pathTo(entries, leafId)) };
}
