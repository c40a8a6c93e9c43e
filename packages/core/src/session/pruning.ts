import type { PruningConditions, ToolResultMessage } from "../types.ts";
import { contextMessages } from "./context-builder.ts";
import { CLEARED_OUTPUT, trimOutput } from "./pruning/shortened-result.ts";
import type { PruneEntry, SessionEntry } from "./types.ts";

/** The numbers that hold for one model. */
export type PruningLimits = {
  [Name in keyof PruningConditions]-?: NonNullable<PruningConditions[Name]>;
};

/** The ids of the results to be cleared and trimmed, and the characters that trimming leaves at each end. */
export type PruningPlan = Pick<PruneEntry, "cleared" | "trimmed" | "trimHead" | "trimTail">;

interface ShownResult {
  id: string;
  /** As the model sees it now. */
  shown: ToolResultMessage;
  /** How many results came after it. */
  age: number;
  /** The model has answered since. */
  isSeen: boolean;
}

const CHARS_PER_TOKEN = 4;

/**
 * Which tool results of the context are to be shortened now. Undefined while less than `minimumTokens`, at four
 * characters each, would be gained: every pruning changes old messages and costs the provider's prompt cache, so it is
 * done rarely and in one go. Results with images are left alone, and what the model has not seen is never cleared.
 * @param path the entries of one branch from its root on.
 */
export function planPruning(path: readonly SessionEntry[], limits: PruningLimits): PruningPlan | undefined {
  if (!limits.enabled) return undefined;
  const cleared: string[] = [];
  const trimmed: string[] = [];
  let gainedChars = 0;
  for (const result of shownResults(path)) {
    const output = shortenedOutput(result, limits);
    if (output === undefined) continue;
    gainedChars += result.shown.output.length - output.length;
    (output === CLEARED_OUTPUT ? cleared : trimmed).push(result.id);
  }
  if (gainedChars === 0 || gainedChars / CHARS_PER_TOKEN < limits.minimumTokens) return undefined;
  return { cleared, trimmed, trimHead: limits.softTrimHead, trimTail: limits.softTrimTail };
}

function shownResults(path: readonly SessionEntry[]): ShownResult[] {
  const context = contextMessages(path);
  const answeredUntil = context.findLastIndex(
    ({ message }) => message.role === "assistant" && message.content.length > 0,
  );
  const results = context.flatMap(({ entry, message }, index) =>
    entry.type === "message" && message.role === "tool_result"
      ? [{ id: entry.id, shown: message, isSeen: index < answeredUntil }]
      : [],
  );
  return results.map((result, index) => ({ ...result, age: results.length - 1 - index }));
}

/** What the model is to see instead; undefined when the result stays as it is. */
function shortenedOutput(result: ShownResult, limits: PruningLimits): string | undefined {
  const { shown, isSeen, age } = result;
  const { output, images } = shown;
  const isProtected = age < limits.keepLast || (limits.keepLast > 0 && !isSeen);
  if (isProtected || images?.length) return undefined;
  if (isSeen && age >= limits.hardClearAfter)
    return output.length > CLEARED_OUTPUT.length ? CLEARED_OUTPUT : undefined;
  if (output.length <= limits.softTrimChars) return undefined;
  return trimOutput(output, { head: limits.softTrimHead, tail: limits.softTrimTail });
}
