import type { ContextCause } from "../../agent/types.ts";
import type { Message } from "../../types.ts";
import { type ContextMessage, contextMessages } from "../context-builder.ts";
import type { SessionEntry } from "../types.ts";
import type { Calibrator } from "./calibration.ts";
import type { ContextLimits } from "./limits.ts";
import {
  countCharacters,
  countContextTokens,
  countFixedCharacters,
  type FixedPart,
  findCountedReply,
  TokenEstimator,
  usageTokens,
} from "./tokens.ts";

/** How full the model's window is; see `ContextUsage`, which also breaks it down. */
export interface ContextSnapshot {
  /** Tokens of the next request without its new prompt; 0 for an empty conversation. */
  tokens: number;
  /** False if the provider has counted all of `tokens`. */
  isEstimate: boolean;
  /** The token count at which the conversation is summarized automatically; undefined if that is disabled. */
  compactsAt?: number | undefined;
  /** The usable part of the model's window; see `compaction.maxContextTokens`. */
  contextWindow: number;
}

/** Uses four characters per token without a count: the calibration is not read for this. */
export function snapshotContext(
  path: readonly SessionEntry[],
  { fixed, limits }: { fixed: FixedPart; limits: ContextLimits },
): ContextSnapshot {
  const { contextWindow, enabled, reserveTokens } = limits;
  const known = { contextWindow, ...(enabled && { compactsAt: contextWindow - reserveTokens }) };
  const messages = contextMessages(path).map(({ message }) => message);
  if (messages.length === 0) return { tokens: 0, isEstimate: false, ...known };
  const size = { fixedCharacters: countFixedCharacters(fixed), messages };
  const tokens = countContextTokens(path, size, new TokenEstimator());
  const counted = findCountedReply(path);
  const isEstimate = counted === undefined || usageTokens(counted.message.usage) !== tokens;
  return { tokens, isEstimate, ...known };
}

/** Context usage; all numbers are tokens. */
export interface ContextUsage {
  /**
   * The usable part of the model's window: at most `compaction.maxContextTokens`, and the size that providers accept.
   */
  contextWindow: number;
  /** The model's own window. */
  modelContextWindow: number;
  /** The size from which on the conversation is summarized automatically; undefined if that is disabled. */
  compactsAt?: number | undefined;
  /** The next request without its new prompt. */
  tokens: number;
  /** False if the provider has counted all of `tokens`. */
  isEstimate: boolean;
  /** Estimates by length, which add up to `tokens`. */
  causes: Readonly<Record<ContextCause, number>>;
}

interface ContextParts {
  fixed: FixedPart;
  limits: ContextLimits;
  calibrator: Calibrator;
  modelContextWindow: number;
}

/** @param path the entries of the conversation, from `pathTo`. */
export function describeContext(
  path: readonly SessionEntry[],
  { fixed, limits, calibrator, modelContextWindow }: ContextParts,
): ContextUsage {
  const told = contextMessages(path);
  const messages = told.map(({ message }) => message);
  const fixedCharacters = countFixedCharacters(fixed);
  const tokens = countContextTokens(path, { fixedCharacters, messages }, calibrator.estimator);
  const counted = findCountedReply(path);
  return {
    contextWindow: limits.contextWindow,
    modelContextWindow,
    ...(limits.enabled && { compactsAt: limits.contextWindow - limits.reserveTokens }),
    tokens,
    isEstimate: counted === undefined || usageTokens(counted.message.usage) !== tokens,
    causes: divide(tokens, countByCause(told, fixed)),
  };
}

/** The tokens of a request by category: estimates by length that add up to `tokens`. */
export function divideByCause(
  path: readonly SessionEntry[],
  { fixed, tokens }: { fixed: FixedPart; tokens: number },
): Record<ContextCause, number> {
  return divide(tokens, countByCause(contextMessages(path), fixed));
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
