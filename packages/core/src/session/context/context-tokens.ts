import type { AssistantMessage, ImageBlock, Message } from "../../types.ts";
import { CHARACTERS_PER_TOKEN, countCharacters, IMAGE_CHARACTERS } from "../compaction/estimate-tokens.ts";
import type { TokenEstimator } from "../compaction/token-estimator.ts";
import type { SessionEntry } from "../types.ts";
import { countFixedCharacters, type FixedPart } from "./fixed-part.ts";
import { usageTokens } from "./has-room.ts";

// No tokenizer makes a token of more characters than twenty: a lower count leaves out what was cached, or most of it.
const LEAST_TOKENS_PER_CHARACTER = 1 / 20;

/** A request as it is estimated: characters of its fixed part, and its messages. */
export interface RequestSize {
  fixedCharacters: number;
  messages: readonly Message[];
}

/**
 * Tokens of the next request: what the provider counted last, plus an estimate of what came after it. Where it has
 * counted nothing since the context was changed, or what cannot be true, all of it is estimated.
 */
export function countContextTokens(
  path: readonly SessionEntry[],
  size: RequestSize,
  estimator: TokenEstimator,
): number {
  const counted = findCountedReply(path);
  if (!counted) return estimateRequest(size, estimator);
  const after = path.slice(counted.position + 1);
  const characters = after.reduce((sum, entry) => sum + entryCharacters(entry), 0);
  const tokens = usageTokens(counted.message.usage);
  if (tokens < (countText(size) - characters) * LEAST_TOKENS_PER_CHARACTER)
    return estimateRequest(size, estimator);
  return tokens + estimator.estimate(characters);
}

function countText({ fixedCharacters, messages }: RequestSize): number {
  return fixedCharacters + sumCharacters(messages) - countImages(messages) * IMAGE_CHARACTERS;
}

/** Tokens of a request that no provider has counted. */
export function estimateRequest(
  { fixedCharacters, messages }: RequestSize,
  estimator: TokenEstimator,
): number {
  return estimator.estimate(fixedCharacters + sumCharacters(messages));
}

/**
 * Tokens of the fixed part by the rule of thumb: what was learned from other text, such as columns of numbers, says
 * nothing of prose and schemas.
 */
export function estimateFixedTokens(fixed: FixedPart): number {
  return Math.ceil(countFixedCharacters(fixed) / CHARACTERS_PER_TOKEN);
}

/** The newest reply whose usage still says what the context takes. */
export function findCountedReply(
  path: readonly SessionEntry[],
): { message: AssistantMessage; position: number } | undefined {
  for (let position = path.length - 1; position >= 0; position--) {
    const entry = path[position];
    if (entry?.type === "compaction" || entry?.type === "prune" || entry?.type === "model_change")
      return undefined;
    if (entry?.type !== "message" || entry.message.role !== "assistant") continue;
    const { message } = entry;
    // What broke off was not counted to its end.
    if (message.stopReason === "aborted" || message.stopReason === "error") continue;
    if (usageTokens(message.usage) > 0) return { message, position };
  }
  return undefined;
}

/** Tokens of the newest request that was answered since the last compaction; zero where nobody has counted them. */
export function findAnsweredTokens(path: readonly SessionEntry[]): number | undefined {
  const last = path.findLast(
    (entry) =>
      entry.type === "compaction" || (entry.type === "message" && entry.message.role === "assistant"),
  );
  if (last?.type !== "message" || last.message.role !== "assistant") return undefined;
  return usageTokens(last.message.usage) - last.message.usage.outputTokens;
}

/** Characters as `countCharacters` has them: an image counts as `IMAGE_CHARACTERS`. */
export function sumCharacters(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + countCharacters(message), 0);
}

/** The images in messages, those of tool results included. */
export function countImages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + imagesOf(message).length, 0);
}

function imagesOf(message: Message): readonly ImageBlock[] {
  if (message.role === "tool_result") return message.images ?? [];
  if (typeof message.content === "string") return [];
  return message.content.filter((block) => block.type === "image");
}

function entryCharacters(entry: SessionEntry): number {
  if (entry.type === "branch_summary") return entry.summary.length;
  return entry.type === "message" ? countCharacters(entry.message) : 0;
}
