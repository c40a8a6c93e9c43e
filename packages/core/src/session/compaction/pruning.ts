import type { AgentEvent } from "../../agent/types.ts";
import type { ToolResultMessage } from "../../types.ts";
import { CLEARED_OUTPUT, contextMessages, trimOutput } from "../context-builder.ts";
import type { SessionLog } from "../log.ts";
import type { PruneEntry, SessionEntry } from "../types.ts";
import type { PruningLimits } from "./limits.ts";
import type { RequestMeter } from "./request-meter.ts";
import type { FixedPart } from "./tokens.ts";

/** The request for which results are shortened, and who is notified. */
interface PruningRequest {
  fixed: FixedPart;
  emit(event: AgentEvent): void;
}

/** Shortens tool results of a session, by entries of it; both ways say whether anything was shortened. */
export class Pruner {
  constructor(
    private readonly log: SessionLog,
    private readonly limits: PruningLimits,
    private readonly meter: RequestMeter,
  ) {}

  /** Shortens the old results, once enough of them can be removed. */
  pruneOld(request: PruningRequest): boolean {
    return this.report(request, () => this.prune(this.limits));
  }

  /** Shortens the newest results too, however small, and none more than necessary until the request `fits`. */
  pruneNewest(fits: () => boolean, request: PruningRequest): boolean {
    return this.report(request, () => {
      const entryIds: string[] = [];
      for (const limits of LAST_RESORTS) {
        if (fits()) break;
        entryIds.push(...this.prune(limits));
      }
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
  private prune(limits: PruningLimits): string[] {
    const plan = planPruning(this.log.path(), limits);
    if (!plan) return [];
    this.log.append((place) => ({ type: "prune", ...place, ...plan }));
    return [...plan.cleared, ...plan.trimmed];
  }
}

// Head and tail sizes for the newest results, in characters: the first that make a request fit are used.
const SIZES = [1_500, 700, 300, 120, 40] as const;

/**
 * Ways to shorten even the newest results if nothing else makes a request fit, the mildest first. The file
 * keeps them whole, and the model can read again what it needs.
 */
const LAST_RESORTS: readonly PruningLimits[] = SIZES.map((characters) => ({
  enabled: true,
  // Results that would save almost nothing stay.
  softTrimChars: characters * 2 + 200,
  softTrimHead: characters,
  softTrimTail: characters,
  hardClearAfter: Number.POSITIVE_INFINITY,
  keepLast: 0,
  minimumTokens: 1,
}));

/** The ids of the results to be cleared and trimmed, and the characters that trimming leaves at each end. */
type PruningPlan = Pick<PruneEntry, "cleared" | "trimmed" | "trimHead" | "trimTail">;

interface ShownResult {
  id: string;
  /** The result as the model sees it now. */
  shown: ToolResultMessage;
  /** How many results came after it. */
  age: number;
  /** True if the model has answered since. */
  isSeen: boolean;
}

const CHARS_PER_TOKEN = 4;

/**
 * Which tool results of the context are to be shortened now. Undefined while less than `minimumTokens`, at four
 * characters each, would be gained: every pruning changes old messages and costs the provider's prompt cache, so it
 * is done rarely and in one go. Results with images are left alone, and results that the model has not seen are
 * never cleared.
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

/** The text the model sees instead; undefined if the result stays unchanged. */
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
