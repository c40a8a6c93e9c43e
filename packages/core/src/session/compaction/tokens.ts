import { countMessageCharacters, IMAGE_CHARACTERS } from "../../history.ts";
import type { StreamContext } from "../../provider/types.ts";
import {
  type AssistantMessage,
  type Message,
  type ToolDefinition,
  toolCallsOf,
  type Usage,
} from "../../types.ts";
import { changesRequests } from "../context-builder.ts";
import type { SessionEntry } from "../types.ts";
import type { ContextLimits } from "./limits.ts";

// No tokenizer makes tokens of more than twenty characters: a lower count excludes cached tokens, or most of them.
const LEAST_TOKENS_PER_CHARACTER = 1 / 20;

/** The input of an estimate: characters of the request's fixed part, and its messages. */
interface RequestSize {
  fixedCharacters: number;
  messages: readonly Message[];
}

/**
 * Tokens of the next request: the provider's last count, plus an estimate of the messages after it. Without a count
 * since the context was changed, or with an implausible one, everything is estimated.
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
 * Tokens of the fixed part by the rule of thumb: a calibration with other text, such as columns of numbers, does not
 * apply to prose and schemas.
 */
export function estimateFixedTokens(fixed: FixedPart): number {
  return Math.ceil(countFixedCharacters(fixed) / CHARACTERS_PER_TOKEN);
}

/** The newest reply whose usage still describes the context. */
export function findCountedReply(
  path: readonly SessionEntry[],
): { message: AssistantMessage; position: number } | undefined {
  for (let position = path.length - 1; position >= 0; position--) {
    const entry = path[position];
    if (entry && changesRequests(entry)) return undefined;
    if (entry?.type !== "message" || entry.message.role !== "assistant") continue;
    const { message } = entry;
    // Usage of an interrupted reply is incomplete.
    if (message.stopReason === "aborted" || message.stopReason === "error") continue;
    if (usageTokens(message.usage) > 0) return { message, position };
  }
  return undefined;
}

/** Tokens of the newest request that was answered since the last compaction; zero if there is no count. */
export function findAnsweredTokens(path: readonly SessionEntry[]): number | undefined {
  const last = path.findLast(
    (entry) =>
      entry.type === "compaction" ||
      entry.type === "compaction_undo" ||
      (entry.type === "message" && entry.message.role === "assistant"),
  );
  if (last?.type !== "message" || last.message.role !== "assistant") return undefined;
  return usageTokens(last.message.usage) - last.message.usage.outputTokens;
}

/** Characters as `countCharacters` counts them: an image counts as `IMAGE_CHARACTERS`. */
export function sumCharacters(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + countCharacters(message), 0);
}

/** The images in messages, including those of tool results. */
export function countImages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + countImagesOf(message), 0);
}

function countImagesOf(message: Message): number {
  if (message.role === "tool_result") return message.images?.length ?? 0;
  if (typeof message.content === "string") return 0;
  let images = 0;
  for (const { type } of message.content) if (type === "image") images += 1;
  return images;
}

function entryCharacters(entry: SessionEntry): number {
  if (entry.type === "branch_summary") return entry.summary.length;
  return entry.type === "message" ? countCharacters(entry.message) : 0;
}

/** The usual rule of thumb for English text and code. */
export const CHARACTERS_PER_TOKEN = 4;

// A conversation is counted before every request, and its messages never change.
const counted = new WeakMap<Message, number>();

/**
 * The characters of a message that become tokens: texts, thinking, the names and JSON arguments of tool calls, outputs.
 * An image counts `IMAGE_CHARACTERS`.
 */
export function countCharacters(message: Message): number {
  let characters = counted.get(message);
  if (characters === undefined) {
    const names = message.role === "assistant" ? toolCallsOf(message).map(({ name }) => name) : [];
    characters = countMessageCharacters(message) + names.join("").length;
    counted.set(message, characters);
  }
  return characters;
}

/** Tokens of messages at four characters each, rounded up once for all of them. */
export function estimateTokens(messages: readonly Message[]): number {
  const characters = messages.reduce((sum, message) => sum + countCharacters(message), 0);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

const START_RATIO = 1 / CHARACTERS_PER_TOKEN;
// The weight of one observation: after ten of them two thirds of the ratio are learned.
const ALPHA = 0.1;
// No tokenizer comes near these ratios; a request that does was counted differently.
const MIN_RATIO = 0.05;
const MAX_RATIO = 3;

/** The calibration of one model's tokenizer. */
export interface TokenCalibration {
  /** Tokens per character. */
  ratio: number;
  /** The number of requests it was learned from. */
  samples: number;
}

/** Estimates tokens from characters, by a ratio that follows the provider's counts. */
export class TokenEstimator {
  #ratio: number;
  #samples: number;

  constructor({ ratio = START_RATIO, samples = 0 }: Partial<TokenCalibration> = {}) {
    const isUsable = isPlausible(ratio);
    this.#ratio = isUsable ? ratio : START_RATIO;
    this.#samples = isUsable ? samples : 0;
  }

  get ratio(): number {
    return this.#ratio;
  }

  get samples(): number {
    return this.#samples;
  }

  estimate(characters: number): number {
    return Math.ceil(characters * this.#ratio);
  }

  /**
   * Learns from one request: its characters and the tokens that the provider counted for them, without images in
   * either. Implausible values are skipped.
   */
  calibrate(characters: number, actualTokens: number): void {
    if (!(characters > 0 && actualTokens > 0)) return;
    const observed = actualTokens / characters;
    if (!isPlausible(observed)) return;
    this.#ratio = ALPHA * observed + (1 - ALPHA) * this.#ratio;
    this.#samples++;
  }
}

/** False for implausible tokens per character: they were counted differently. */
export function isPlausible(ratio: number): boolean {
  return ratio >= MIN_RATIO && ratio <= MAX_RATIO;
}

/** The worst case: a token hardly ever has less than one character. */
export const MOST_TOKENS_PER_CHARACTER = 1;

/**
 * True if a request is so far below every limit that no closer check is necessary: true for every request of most
 * conversations, and cheap.
 */
export function hasRoom(context: StreamContext, limits: ContextLimits): boolean {
  const { contextWindow, reserveTokens, maxFixedTokens, pruning } = limits;
  const maxRequestTokens = contextWindow - reserveTokens;
  const fixed = countFixedCharacters(context);
  const lastUsage = lastUsageTokens(context);
  const inMessages = context.messages.reduce((sum, message) => sum + countCharacters(message), 0);
  const isFarFromFull =
    (fixed + inMessages) * MOST_TOKENS_PER_CHARACTER <= maxRequestTokens &&
    // The provider's own count, if there is one, is more accurate.
    lastUsage <= maxRequestTokens / 2;
  const isPromptSmall = fixed * MOST_TOKENS_PER_CHARACTER <= maxFixedTokens;
  const startTokens = contextWindow * pruning.startRatio;
  const isNothingToPrune =
    !pruning.enabled ||
    inMessages / CHARACTERS_PER_TOKEN < pruning.minimumTokens ||
    ((fixed + inMessages) * MOST_TOKENS_PER_CHARACTER <= startTokens && lastUsage <= startTokens / 2);
  return isFarFromFull && isPromptSmall && isNothingToPrune;
}

/** Tokens of a request and its answer, as the provider counted them. */
export function usageTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

function lastUsageTokens({ messages }: StreamContext): number {
  const last = messages.findLast((message) => message.role === "assistant");
  return last?.role === "assistant" ? usageTokens(last.usage) : 0;
}

/** The part that all requests have in common. */
export type FixedPart = Pick<StreamContext, "systemPrompt" | "tools">;

/** Its characters; tools count as their JSON, deferred ones as nothing. */
export function countFixedCharacters({ systemPrompt, tools }: FixedPart): number {
  const shown = tools.filter(({ isDeferred }) => !isDeferred);
  // Each definition has a comma or bracket after it, and the list one more bracket.
  const inTools = shown.reduce((sum, tool) => sum + countDefinition(tool) + 1, shown.length > 0 ? 1 : 0);
  return systemPrompt.length + inTools;
}

// The same for each request of a session.
const definitions = new WeakMap<ToolDefinition, number>();

function countDefinition(tool: ToolDefinition): number {
  let characters = definitions.get(tool);
  if (characters === undefined) {
    characters = JSON.stringify(tool).length;
    definitions.set(tool, characters);
  }
  return characters;
}
