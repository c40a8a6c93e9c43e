import type { Message } from "../../types.ts";
import { countCharacters } from "../compaction/estimate-tokens.ts";
import { type ContextMessage, contextMessages } from "../context-builder.ts";
import type { SessionEntry } from "../types.ts";
import type { Calibrator } from "./calibrator.ts";
import { countContextTokens, findCountedReply } from "./context-tokens.ts";
import { countFixedCharacters, type FixedPart } from "./fixed-part.ts";
import { usageTokens } from "./has-room.ts";
import type { ContextLimits } from "./settings.ts";

/** What a part of a request is there for. */
export type ContextCause = "systemPrompt" | "tools" | "summary" | "user" | "assistant" | "toolResults";

/** What fills the model's window; all numbers are tokens. */
export interface ContextUsage {
  contextWindow: number;
  /** From here on the conversation is summarised by itself; undefined where that is switched off. */
  compactsAt?: number | undefined;
  /** Of the next request, without what is said next. */
  tokens: number;
  /** False: the provider itself has counted all of `tokens`. */
  isEstimate: boolean;
  /** Estimates by length, which add up to `tokens`. */
  causes: Readonly<Record<ContextCause, number>>;
}

interface ContextParts {
  fixed: FixedPart;
  limits: ContextLimits;
  calibrator: Calibrator;
}

/** @param path the entries of the conversation, as `pathTo` finds them. */
export function describeContext(
  path: readonly SessionEntry[],
  { fixed, limits, calibrator }: ContextParts,
): ContextUsage {
  const told = contextMessages(path);
  const messages = told.map(({ message }) => message);
  const fixedCharacters = countFixedCharacters(fixed);
  const tokens = countContextTokens(path, { fixedCharacters, messages }, calibrator.estimator);
  const counted = findCountedReply(path);
  return {
    contextWindow: limits.contextWindow,
    ...(limits.enabled && { compactsAt: limits.contextWindow - limits.reserveTokens }),
    tokens,
    isEstimate: counted === undefined || usageTokens(counted.message.usage) !== tokens,
    causes: divide(tokens, countByCause(told, fixed)),
  };
}

function countByCause(told: readonly ContextMessage[], fixed: FixedPart): Record<ContextCause, number> {
  const systemPrompt = fixed.systemPrompt.length;
  const tools = countFixedCharacters(fixed) - systemPrompt;
  const counts = { systemPrompt, tools, summary: 0, user: 0, assistant: 0, toolResults: 0 };
  for (const { entry, message } of told) {
    const cause = entry.type === "message" ? CAUSES[message.role] : "summary";
    counts[cause] += countCharacters(message);
  }
  return counts;
}

const CAUSES = { user: "user", assistant: "assistant", tool_result: "toolResults" } as const satisfies Record<
  Message["role"],
  ContextCause
>;

/** Whole numbers in the proportions of `shares` that add up to `total`. */
function divide<K extends string>(total: number, shares: Record<K, number>): Record<K, number> {
  const divided = { ...shares };
  const all = Object.values<number>(shares).reduce((sum, share) => sum + share, 0);
  let passed = 0;
  let given = 0;
  for (const key in shares) {
    passed += shares[key];
    const upTo = all === 0 ? 0 : Math.round((total * passed) / all);
    divided[key] = upTo - given;
    given = upTo;
  }
  return divided;
}
