import type { Message } from "../../types.ts";
import type { SessionEntry, SessionMessageEntry } from "../types.ts";
import { CLEARED_OUTPUT, type TrimSizes, trimOutput, withOutput } from "./shortened-result.ts";

/** The figure of the compaction plan, for an entry that does not say. */
const DEFAULT_TRIM_CHARS = 1_500;

/** How each pruned result is shown, by the id of its entry. */
export type PrunedForms = ReadonlyMap<string, "cleared" | TrimSizes>;

/**
 * What the prune entries of a branch say together: the latest sizes count, and what was cleared stays so.
 * @param from the position from which on results are of interest: what prunes them comes behind them.
 */
export function collectPrunes(path: readonly SessionEntry[], from = 0): PrunedForms {
  const forms = new Map<string, "cleared" | TrimSizes>();
  for (let position = from; position < path.length; position++) {
    const entry = path[position];
    if (entry?.type !== "prune") continue;
    const {
      cleared,
      trimmed,
      trimHead: head = DEFAULT_TRIM_CHARS,
      trimTail: tail = DEFAULT_TRIM_CHARS,
    } = entry;
    for (const id of trimmed) if (forms.get(id) !== "cleared") forms.set(id, { head, tail });
    for (const id of cleared) forms.set(id, "cleared");
  }
  return forms;
}

/** The entry's message as the model sees it: only results without images are ever shortened. */
export function applyPrunes({ id, message }: SessionMessageEntry, forms: PrunedForms): Message {
  const form = forms.get(id);
  if (form === undefined || message.role !== "tool_result" || message.images?.length) return message;
  const output = form === "cleared" ? CLEARED_OUTPUT : trimOutput(message.output, form);
  return output === undefined ? message : withOutput(message, output);
}
