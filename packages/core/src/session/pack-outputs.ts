import { packText } from "../infrastructure/content/packed-text.ts";
import type { ToolResultMessage } from "../types.ts";
import { contextEntries } from "./context-entries.ts";
import { collectPrunes } from "./pruning/apply-prunes.ts";
import type { SessionEntry } from "./types.ts";

// What is shorter costs little, and a packed text has a cost of its own.
const LEAST_CHARACTERS = 4_096;

const packed = new WeakSet<ToolResultMessage>();

/**
 * Packs the outputs of tool results that no request holds any more: they were summarised or cleared. They read as before,
 * only slower, which is for whoever looks at the conversation, exports it, or has to write its file anew.
 * @param path the entries of one branch from its root on.
 */
export function packUnsentOutputs(path: readonly SessionEntry[]): void {
  const { summarized, kept } = contextEntries(path);
  const forms = collectPrunes(path);
  for (const entry of summarized) packOutput(entry);
  for (const entry of kept) if (forms.get(entry.id) === "cleared") packOutput(entry);
}

function packOutput(entry: SessionEntry): void {
  if (entry.type !== "message" || entry.message.role !== "tool_result" || packed.has(entry.message)) return;
  const { message } = entry;
  packed.add(message);
  if (message.output.length < LEAST_CHARACTERS) return;
  const text = packText(message.output);
  if (text === undefined) return;
  Object.defineProperty(message, "output", { get: text.read, enumerable: true, configurable: true });
}
