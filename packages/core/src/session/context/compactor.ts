import type { AgentEvent, UsagePurpose } from "../../agent/types.ts";
import type { Model } from "../../provider/types.ts";
import type { Message, Usage, UserMessage } from "../../types.ts";
import { extractFileOperations } from "../compaction/file-operations.ts";
import { type CutPointResult, findCutPoint } from "../compaction/find-cut-point.ts";
import { summarize } from "../compaction/summarize.ts";
import type { TokenEstimator } from "../compaction/token-estimator.ts";
import { contextMessages, messagesOf } from "../context-builder.ts";
import type { SessionLog } from "../session-log.ts";
import type { CompactionEntry, SessionEntry } from "../types.ts";
import type { CompactionOutcome } from "./context-guard.ts";
import { estimateFixedTokens, estimateRequest, sumCharacters } from "./context-tokens.ts";
import { countFixedCharacters, type FixedPart } from "./fixed-part.ts";
import { openSummarizer, type SummarizerChoice } from "./open-summarizer.ts";
import { type RoomShares, shareRoom } from "./room-shares.ts";
import type { ContextLimits } from "./settings.ts";

// The plan's counts are of four characters each, whatever the tokenizer makes of them.
const PLAN_RATIO = 1 / 4;
const SHOWN_SUMMARY_CHARACTERS = 200;

/** What all compactions of a session are made with. */
export interface CompactorParts extends SummarizerChoice {
  log: SessionLog;
  limits: ContextLimits;
  estimator: TokenEstimator;
  /** Attempts of a request for a summary after the first; a few when left out. */
  maxRetries?: number | undefined;
  /** The system prompt from now on; the one before is handed in. */
  renewSystemPrompt(before: string): Promise<string>;
}

/** One compaction, as whoever asks for it wants it; `focus` is what its summary should pay attention to. */
export interface CompactionRequest {
  fixed: FixedPart;
  /** Tokens of the next request as it is. */
  tokens: number;
  /** At most so many tokens of the newest conversation stay word for word. */
  keepRecentTokens: number;
  /** Where they are not the model's own. */
  limits?: ContextLimits | undefined;
  focus?: string | undefined;
  signal?: AbortSignal | undefined;
  emit?: ((event: AgentEvent) => void) | undefined;
  countUsage?: ((usage: Usage, model: Model, purpose: UsagePurpose) => void) | undefined;
}

/** Replaces the older part of a conversation by a summary, as an entry of the session. Nothing is taken away. */
export class Compactor {
  constructor(private readonly parts: CompactorParts) {}

  /** Never fails for the summary's sake: without a usable one it is made by program. */
  async compact(request: CompactionRequest): Promise<CompactionOutcome> {
    const path = this.parts.log.path();
    const shares = this.share(path, request);
    const cut = this.chooseCut(path, shares);
    const firstKept = cut.entriesToKeep[0];
    const messages = messagesOf(cut.entriesToSummarize);
    if (!firstKept || messages.length === 0) return { kind: "nothing" };
    request.emit?.({ type: "compaction_start", estimatedTokens: request.tokens });
    const previous = path.findLast((entry) => entry.type === "compaction");
    const summary = await this.summarizeCut(cut, { messages, previous, request });
    if (summary === undefined) return { kind: "aborted" };
    const systemPrompt = await this.parts.renewSystemPrompt(request.fixed.systemPrompt);
    if (request.signal?.aborted) return { kind: "aborted" };
    const entry = this.append(request, systemPrompt, {
      summary,
      firstKeptEntryId: firstKept.id,
      details: extractFileOperations(messages, previous?.details),
      pinnedTokens: this.toPlanTokens(shares.pinnedTokens),
    });
    const { tokensBefore, tokensAfter } = entry;
    const shown = shorten(entry.summary);
    request.emit?.({ type: "compaction_end", tokensBefore, tokensAfter, summary: shown });
    return { kind: "compacted", entry, systemPrompt };
  }

  /** A cut keeps whole turns, so it may keep far more than it should: then a later one is taken. */
  private chooseCut(
    path: readonly SessionEntry[],
    { keepRecentTokens, maxKeptTokens }: RoomShares,
  ): CutPointResult {
    const { estimator } = this.parts;
    for (let keep = this.toPlanTokens(keepRecentTokens); ; keep = Math.floor(keep / 2)) {
      const cut = findCutPoint(path, keep);
      const keptTokens = estimator.estimate(sumCharacters(messagesOf(cut.entriesToKeep)));
      if (keep === 0 || keptTokens <= maxKeptTokens) return cut;
    }
  }

  private share(path: readonly SessionEntry[], request: CompactionRequest): RoomShares {
    const { fixed, keepRecentTokens, limits = this.parts.limits } = request;
    const { estimator } = this.parts;
    const fixedTokens = estimateFixedTokens(fixed);
    const userTokens = estimator.estimate(sumCharacters(messagesOf(path).filter(isUserMessage)));
    return shareRoom(limits, { fixedTokens, userTokens, keepRecentTokens });
  }

  private async summarizeCut(
    cut: CutPointResult,
    input: { messages: Message[]; previous: CompactionEntry | undefined; request: CompactionRequest },
  ): Promise<string | undefined> {
    const { messages, previous, request } = input;
    const { model, streamFunction } = await openSummarizer(this.parts, request.emit);
    const { maxSummaryTokens } = request.limits ?? this.parts.limits;
    try {
      const { summary, failure } = await summarize(messages, {
        streamFunction,
        model: { ...model, maxOutputTokens: Math.min(model.maxOutputTokens, maxSummaryTokens) },
        previousSummary: previous?.summary,
        focus: request.focus,
        splitTurnAt: splitTurnPosition(cut),
        signal: request.signal,
        maxRetries: this.parts.maxRetries,
        tokensPerCharacter: this.parts.estimator.ratio,
        onUsage: (usage) => request.countUsage?.(usage, model, "summary"),
      });
      if (failure !== undefined) request.emit?.(madeByProgram(failure));
      return summary;
    } catch (error) {
      if (request.signal?.aborted) return undefined;
      throw error;
    }
  }

  private append(
    request: CompactionRequest,
    systemPrompt: string,
    made: Pick<CompactionEntry, "summary" | "firstKeptEntryId" | "details" | "pinnedTokens">,
  ): CompactionEntry {
    const { estimator, log } = this.parts;
    const content = { type: "compaction" as const, ...made, tokensBefore: request.tokens };
    const draft = { ...content, id: "", parentId: log.leafId, timestamp: "", tokensAfter: 0 };
    const tokensAfter = estimateRequest(
      {
        fixedCharacters: countFixedCharacters({ ...request.fixed, systemPrompt }),
        messages: contextMessages([...log.path(), draft]).map(({ message }) => message),
      },
      estimator,
    );
    return log.append((place) => ({ ...content, ...place, tokensAfter }));
  }

  private toPlanTokens(tokens: number): number {
    return Math.floor((tokens * PLAN_RATIO) / this.parts.estimator.ratio);
  }
}

function isUserMessage(message: Message): message is UserMessage {
  return message.role === "user";
}

/** The position among the messages that are summarised where the turn begins whose end is kept. */
function splitTurnPosition({
  isSplitTurn,
  turnStartIndex,
  firstKeptIndex,
  entriesToSummarize,
}: CutPointResult) {
  if (!isSplitTurn || turnStartIndex === undefined) return undefined;
  const inTurn = firstKeptIndex - turnStartIndex;
  return messagesOf(entriesToSummarize.slice(0, -inTurn)).length;
}

function shorten(summary: string): string {
  const isLong = summary.length > SHOWN_SUMMARY_CHARACTERS;
  return isLong ? `${summary.slice(0, SHOWN_SUMMARY_CHARACTERS).toWellFormed()}…` : summary;
}

function madeByProgram(failure: string): AgentEvent {
  const message = `The summary was made by program, from the session itself: ${failure}`;
  return { type: "notice", level: "warning", code: "compaction_fallback", message };
}
