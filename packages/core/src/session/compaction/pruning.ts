import type { AgentEvent } from "../../agent/types.ts";
import type { ToolResultMessage } from "../../types.ts";
import { contextMessages } from "../context-builder.ts";
import type { SessionLog } from "../log.ts";
import { clearedOutput, findCall, type PrunableResult, trimOutput } from "../pruned-results.ts";
import type { PruneEntry, SessionEntry } from "../types.ts";
import type { PruningLimits } from "./limits.ts";
import { readPins } from "./pins.ts";
import type { RequestMeter } from "./request-meter.ts";
import { countCharacters, type FixedPart } from "./tokens.ts";

/** The request for which results are shortened, and its event receiver. */
interface PruningRequest {
  fixed: FixedPart;
  emit(event: AgentEvent): void;
}

/** Shortens tool results of a session by adding entries; both methods return whether anything was shortened. */
export class Pruner {
  constructor(
    private readonly log: SessionLog,
    private readonly meter: RequestMeter,
    /** True if the model has the recall tool, so that placeholders name it. */
    private readonly hasRecall: boolean,
  ) {}

  /**
   * Shortens old results once a request takes more than `startRatio` of the usable window: the oldest first, and only
   * as many as it takes to remain below that share until `minimumTokens` more have been added.
   */
  pruneOld(request: PruningRequest): boolean {
    const { contextWindow, pruning } = this.meter.limits;
    const startTokens = contextWindow * pruning.startRatio;
    const tokens = this.meter.countTokens(request.fixed);
    if (!pruning.enabled || tokens <= startTokens) return false;
    const wantedTokens = tokens - startTokens + pruning.minimumTokens;
    return this.report(request, () => this.prune({ ...pruning, wantedTokens }));
  }

  /**
   * Shortens results until `excess` is 0, the newest one last, and none more than necessary.
   * @param excess the characters by which the request is too long.
   * @param only the entries whose length matters; all when left out.
   */
  pruneToFit(excess: () => number, request: PruningRequest, only?: ReadonlySet<string>): boolean {
    return this.report(request, () => {
      const entryIds: string[] = [];
      for (const step of EMERGENCY_STEPS) {
        const wantedCharacters = excess();
        if (wantedCharacters <= 0) break;
        const wantedTokens = wantedCharacters / CHARS_PER_TOKEN;
        entryIds.push(...this.prune({ ...step(wantedCharacters, this.newestLength()), wantedTokens, only }));
      }
      // A pinned result is only shortened if the request would be impossible with it.
      if (excess() > 0) entryIds.push(...this.prune({ ...trimmedTo(SIZES[0]), spared: new Set(), only }));
      return entryIds;
    });
  }

  /** Reports what was pruned at once. */
  private report({ fixed, emit }: PruningRequest, prune: () => string[]): boolean {
    const { meter } = this;
    const tokensBefore = meter.countTokens(fixed);
    const charactersBefore = meter.countConversation();
    const entryIds = [...new Set(prune())];
    if (entryIds.length === 0) return false;
    // The provider's count is more accurate than a new estimate of everything.
    const gained = meter.estimate(charactersBefore - meter.countConversation());
    emit({ type: "prune", entryIds, tokensBefore, tokensAfter: Math.max(0, tokensBefore - gained) });
    return true;
  }

  /** The ids of the shortened results. */
  private prune(limits: BatchLimits): string[] {
    const plan = planPruning(this.log.conversation(), {
      spared: readPins(this.log.entries),
      ...(!this.hasRecall && { recall: false }),
      ...limits,
    });
    if (!plan) return [];
    this.log.append((place) => ({ type: "prune", ...place, ...plan }));
    return [...plan.cleared, ...plan.trimmed];
  }

  private newestLength(): number {
    return prunableResults(this.log.conversation()).at(-1)?.shown.output.length ?? 0;
  }
}

// Head and tail sizes if nothing else makes a request fit, in characters: the first that suffice are used.
const SIZES = [1_500, 700, 300, 120, 40] as const;

type EmergencyStep = (wantedCharacters: number, newestLength: number) => BatchLimits;

/**
 * The steps for shortening even the newest results, the mildest first: the older ones to the standard size, then to
 * placeholders, then the newest to the available space, then all of them further. The file keeps them complete.
 */
const EMERGENCY_STEPS: readonly EmergencyStep[] = [
  () => trimmedTo(SIZES[0], { keepLast: 1 }),
  () => trimmedTo(SIZES[0], { keepLast: 1, hardClearAfter: 6 }),
  (wanted, newestLength) => {
    const roomInEachHalf = Math.floor((newestLength - wanted - ROOM_FOR_ANSWER - MARKER_CHARACTERS) / 2);
    return trimmedTo(Math.max(SIZES[0], roomInEachHalf));
  },
  ...SIZES.slice(1).map((size) => () => trimmedTo(size)),
];

// The maximum length of the line between head and tail.
const MARKER_CHARACTERS = 500;
// The model has to be able to answer and to make another call before something is cut again.
const ROOM_FOR_ANSWER = 2_000;

function trimmedTo(
  characters: number,
  { keepLast = 0, hardClearAfter = Number.POSITIVE_INFINITY } = {},
): BatchLimits {
  return {
    enabled: true,
    // Results that would save almost nothing stay.
    softTrimChars: characters * 2 + 200,
    softTrimHead: characters,
    softTrimTail: characters,
    hardClearAfter,
    keepLast,
    keepsUnseen: false,
    protectTokens: 0,
    minimumTokens: 1,
    startRatio: 0,
  };
}

/** The limits of one batch. */
interface BatchLimits extends PruningLimits {
  /** Shortening stops once so many tokens are freed; everything allowed is shortened when left out. */
  wantedTokens?: number;
  /** Whether results that the model has not seen stay unchanged; by default if `keepLast` is above zero. */
  keepsUnseen?: boolean;
  /** False if the model has no recall tool. */
  recall?: false;
  /** Entries that stay whole; none when left out. */
  spared?: ReadonlySet<string>;
  /** The entries that may be shortened; all when left out. */
  only?: ReadonlySet<string> | undefined;
}

/** The ids of the results to be cleared and trimmed, and the characters that trimming leaves at each end. */
type PruningPlan = Pick<PruneEntry, "cleared" | "trimmed" | "trimHead" | "trimTail" | "recall">;

interface ShownResult extends PrunableResult {
  /** The result as the model sees it now. */
  shown: ToolResultMessage;
  /** The number of results after it. */
  age: number;
  /** Tokens of the results after it, as the model sees them, at four characters each. */
  newerTokens: number;
  /** True if the model has replied since. */
  isSeen: boolean;
}

// The plan's counts assume four characters per token, whatever the tokenizer's actual ratio.
const CHARS_PER_TOKEN = 4;

/**
 * Chooses the tool results to shorten now, the oldest first. Undefined while less than `minimumTokens`, at four
 * characters each, would be freed: every pruning changes old messages and invalidates the provider's prompt cache, so
 * it is done rarely and in one batch. Results with images are never shortened, and results that the model has not seen
 * are never cleared.
 * @param path the entries of one branch from its root on.
 */
export function planPruning(path: readonly SessionEntry[], limits: BatchLimits): PruningPlan | undefined {
  if (!limits.enabled) return undefined;
  const { minimumTokens, wantedTokens = Number.POSITIVE_INFINITY } = limits;
  const cleared: string[] = [];
  const trimmed: string[] = [];
  let gainedTokens = 0;
  for (const result of prunableResults(path)) {
    if (gainedTokens >= Math.max(minimumTokens, wantedTokens)) break;
    if (limits.only?.has(result.entryId) === false || limits.spared?.has(result.entryId)) continue;
    const shorter = shortenedOutput({ ...result, recall: limits.recall }, limits);
    if (!shorter) continue;
    gainedTokens += (result.shown.output.length - shorter.output.length) / CHARS_PER_TOKEN;
    (shorter.isCleared ? cleared : trimmed).push(result.entryId);
  }
  if (gainedTokens === 0 || gainedTokens < minimumTokens) return undefined;
  return {
    cleared,
    trimmed,
    trimHead: limits.softTrimHead,
    trimTail: limits.softTrimTail,
    ...(limits.recall === false && { recall: false as const }),
  };
}

/** The results of the context, oldest first. */
function prunableResults(path: readonly SessionEntry[]): ShownResult[] {
  const context = contextMessages(path);
  const entries = context.map(({ entry }) => entry);
  const answeredUntil = context.findLastIndex(
    ({ message }) => message.role === "assistant" && message.content.length > 0,
  );
  const results: ShownResult[] = [];
  let newerTokens = 0;
  for (let index = context.length - 1; index >= 0; index--) {
    const { entry, message: shown } = context[index] ?? {};
    if (entry?.type !== "message" || entry.message.role !== "tool_result" || shown?.role !== "tool_result")
      continue;
    const isSeen = index < answeredUntil;
    const call = findCall(entries, index);
    const { id: entryId, message } = entry;
    results.push({ entryId, message, call, shown, isSeen, age: results.length, newerTokens });
    newerTokens += countCharacters(shown) / CHARS_PER_TOKEN;
  }
  return results.reverse();
}

/** The output that the model sees instead; undefined if the result stays unchanged. */
function shortenedOutput(
  result: ShownResult,
  limits: BatchLimits,
): { output: string; isCleared: boolean } | undefined {
  const { shown, isSeen, age, newerTokens } = result;
  const { keepLast, protectTokens, keepsUnseen = keepLast > 0 } = limits;
  // Instructions that the model follows until its task is done; shortened, it would load them again.
  const isInstruction = shown.toolName === "skill" && keepLast > 0;
  const isProtected =
    isInstruction || age < keepLast || newerTokens < protectTokens || (keepsUnseen && !isSeen);
  if (isProtected || shown.images?.length) return undefined;
  if (isSeen && age >= limits.hardClearAfter) {
    const output = clearedOutput(result);
    return output.length < shown.output.length ? { output, isCleared: true } : undefined;
  }
  if (shown.output.length <= limits.softTrimChars) return undefined;
  const output = trimOutput(result, { head: limits.softTrimHead, tail: limits.softTrimTail });
  return output !== undefined && output.length < shown.output.length
    ? { output, isCleared: false }
    : undefined;
}
