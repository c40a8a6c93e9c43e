import { toSendableHistory } from "../history.ts";
import type { Message } from "../types.ts";
import { assertNever } from "../types.ts";
import { pathTo } from "./session-tree.ts";
import type { SessionEntry } from "./types.ts";

export interface SessionContext {
  messages: Message[];
  currentModel?: { provider: string; modelId: string };
}

/**
 * The conversation that ends in `leafId` (the last entry when left out): the entries from the root to the leaf, as
 * messages a provider accepts. A turn that was cut off gets the results its calls lack.
 */
export function buildSessionContext(
  entries: readonly SessionEntry[],
  leafId?: string | null,
): SessionContext {
  const context: SessionContext = { messages: [] };
  for (const entry of pathTo(entries, leafId)) {
    switch (entry.type) {
      case "message":
        context.messages.push(entry.message);
        break;
      case "model_change":
        context.currentModel = { provider: entry.provider, modelId: entry.modelId };
        break;
      case "session_info":
      case "label":
      case "unknown":
        break;
      default:
        assertNever(entry);
    }
  }
  return { ...context, messages: toSendableHistory(context.messages) };
}
