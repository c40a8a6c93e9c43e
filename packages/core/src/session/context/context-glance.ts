import { TokenEstimator } from "../compaction/token-estimator.ts";
import { contextMessages } from "../context-builder.ts";
import type { SessionEntry } from "../types.ts";
import { countContextTokens, findCountedReply } from "./context-tokens.ts";
import { countFixedCharacters, type FixedPart } from "./fixed-part.ts";
import { usageTokens } from "./has-room.ts";
import type { ContextLimits } from "./settings.ts";

/** How full the model's window is; see `ContextUsage`, which also says with what. */
export interface ContextGlance {
  /** Of the next request, without what is said next; 0 for an empty conversation. */
  tokens: number;
  /** False: the provider itself has counted all of `tokens`. */
  isEstimate: boolean;
  /** Tokens from which on the conversation is summarised by itself; undefined where that is switched off. */
  compactsAt?: number | undefined;
}

/** At four characters a token where nobody has counted: what was learned about a model is not read for it. */
export function glanceAtContext(
  path: readonly SessionEntry[],
  { fixed, limits }: { fixed: FixedPart; limits: ContextLimits },
): ContextGlance {
  const { contextWindow, enabled, reserveTokens } = limits;
  const compactsAt = enabled ? { compactsAt: contextWindow - reserveTokens } : {};
  const messages = contextMessages(path).map(({ message }) => message);
  if (messages.length === 0) return { tokens: 0, isEstimate: false, ...compactsAt };
  const size = { fixedCharacters: countFixedCharacters(fixed), messages };
  const tokens = countContextTokens(path, size, new TokenEstimator());
  const counted = findCountedReply(path);
  const isEstimate = counted === undefined || usageTokens(counted.message.usage) !== tokens;
  return { tokens, isEstimate, ...compactsAt };
}
