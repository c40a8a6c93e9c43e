import { makeSideRequest } from "../../agent/side-request.ts";
import type {
  AgentEvent,
  AgentLoopConfig,
  CompactionRung,
  CompactionTrigger,
  SummaryValidation,
  UpcomingRequest,
  UsagePurpose,
} from "../../agent/types.ts";
import { monotonicMs, now } from "../../infrastructure/runtime.ts";
import type { Model } from "../../provider/types.ts";
import type { Message, Usage, UserMessage } from "../../types.ts";
import type { CompactionLock } from "../compaction-lock.ts";
import { contextMessages, findMessages, messagesOf } from "../context-builder.ts";
import { lastOfType } from "../entries-by-type.ts";
import type { SessionLog } from "../log.ts";
import { collectPrunes } from "../pruned-results.ts";
import { findTodos } from "../todos.ts";
import type { CompactionEntry, CompactionOutcome, SessionEntry } from "../types.ts";
import { divideByCause } from "./context-status.ts";
import {
  type CutPointResult,
  countPinnedCharacters,
  extractFileOperations,
  type FileBase,
  findCutPoint,
} from "./cut-point.ts";
import FLUSH_INSTRUCTION from "./flush-knowledge.md" with { type: "text" };
import { type ContextLimits, type RoomShares, shareRoom } from "./limits.ts";
import { choosePins, countPinTokens, readPins } from "./pins.ts";
import { type CompactionPreview, describePart } from "./preview.ts";
import {
  assessSummary,
  limitSummarizers,
  type SummarizerChoice,
  summarizeByLadder,
  summaryWarnings,
} from "./summarize.ts";
import {
  countFixedCharacters,
  estimateFixedTokens,
  estimateRequest,
  type FixedPart,
  sumCharacters,
  type TokenEstimator,
} from "./tokens.ts";

// The plan's counts assume four characters per token, whatever the tokenizer's actual ratio.
const PLAN_RATIO = 1 / 4;
const SHOWN_SUMMARY_CHARACTERS = 200;

// Every compaction renews the system prompt, and the file does not contain it.
const promptsBefore = new WeakMap<CompactionEntry, string>();

/** The system prompt before a compaction; undefined if another process has made it. */
export function findPromptBefore(entry: CompactionEntry): string | undefined {
  return promptsBefore.get(entry);
}

/** The dependencies that all compactions of a session share. */
export interface CompactorDeps extends SummarizerChoice {
  log: SessionLog;
  limits: ContextLimits;
  estimator: TokenEstimator;
  /** True if the model has the recall tool, so that the summary names it. */
  hasRecall: boolean;
  /** Retries of a summary request; a few by default. */
  maxRetries?: number | undefined;
  /** The base of relative paths in tool calls. */
  fileBase?: FileBase | undefined;
  /** Builds the new system prompt; receives the previous one. */
  renewSystemPrompt(before: string): Promise<string>;
}

/** The input that decides what a compaction summarizes and keeps. */
interface PlannedCompaction {
  fixed: FixedPart;
  /** At most this many tokens of the newest conversation stay verbatim. */
  keepRecentTokens: number;
  /** Limits other than the model's own. */
  limits?: ContextLimits | undefined;
}

/** The input of one compaction; `focus` is the subject that its summary should emphasize. */
interface CompactionRequest extends PlannedCompaction {
  trigger: CompactionTrigger;
  /** The estimated size of the next request. */
  tokens: number;
  focus?: string | undefined;
  /** Called once the replaced part is determined, before any of it leaves the context. */
  flush?: (() => Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
  emit?: ((event: AgentEvent) => void) | undefined;
  countUsage?: ((usage: Usage, model: Model, purpose: UsagePurpose) => void) | undefined;
  /** See `UpcomingRequest`. */
  limit?: UpcomingRequest["limit"];
}

interface WrittenSummary {
  summary: string;
  rung: CompactionRung;
  validation: SummaryValidation;
}

/** Replaces the older part of a conversation by a summary, as an entry of the session. Nothing is deleted. */
export class Compactor {
  constructor(private readonly parts: CompactorDeps) {}

  /** A failing summary never fails the compaction: without a usable one the fallback is used. */
  async compact(request: CompactionRequest): Promise<CompactionOutcome> {
    const path = this.parts.log.conversation();
    const shares = this.share(path, request);
    const cut = this.chooseCut(path, shares);
    const firstKept = cut.entriesToKeep[0];
    const messages = messagesOf(cut.entriesToSummarize);
    if (!firstKept || messages.length === 0) return { kind: "nothing" };
    await request.flush?.();
    if (request.signal?.aborted) return { kind: "aborted" };
    const startedAt = monotonicMs();
    request.emit?.({
      type: "compaction_start",
      estimatedTokens: request.tokens,
      trigger: request.trigger,
      ...(request.focus !== undefined && { focus: request.focus }),
      cutEntryIds: cut.entriesToSummarize.map(({ id }) => id),
      keptEntryIds: cut.entriesToKeep.map(({ id }) => id),
      tokensByCause: divideByCause(path, request),
    });
    const previous = lastOfType(path, "compaction");
    const written = await this.summarizeCut(cut, { messages, previous, request });
    if (written === undefined) return { kind: "aborted" };
    const systemPrompt = await this.parts.renewSystemPrompt(request.fixed.systemPrompt);
    if (request.signal?.aborted) return { kind: "aborted" };
    const { summary, rung, validation } = written;
    const { chosen, leftOut } = this.choosePins(path, cut, request);
    const entry = this.append(request, systemPrompt, {
      summary,
      firstKeptEntryId: firstKept.id,
      details: extractFileOperations(messages, previous?.details, this.parts.fileBase),
      pinnedTokens: this.toPlanTokens(shares.pinnedTokens),
      ...(!this.parts.hasRecall && { recall: false as const }),
      ...(chosen.length > 0 && { pinnedEntryIds: chosen.map(({ entry }) => entry.id) }),
    });
    if (leftOut > 0) request.emit?.(pinsLeftOut(leftOut));
    const { tokensBefore, tokensAfter } = entry;
    request.emit?.({
      type: "compaction_end",
      tokensBefore,
      tokensAfter,
      summary: shorten(entry.summary),
      durationMs: Math.round(monotonicMs() - startedAt),
      rung,
      validation,
    });
    return { kind: "compacted", entry, systemPrompt };
  }

  /** What a compaction would do, without doing it; undefined if there is nothing to summarize. */
  preview(request: PlannedCompaction): CompactionPreview | undefined {
    const path = this.parts.log.conversation();
    const shares = this.share(path, request);
    const cut = this.chooseCut(path, shares);
    const messages = messagesOf(cut.entriesToSummarize);
    if (!cut.entriesToKeep[0] || messages.length === 0) return undefined;
    const { estimator, fileBase } = this.parts;
    const previous = lastOfType(path, "compaction");
    const replaced = messagesOf(path.slice(0, cut.firstKeptIndex));
    const { chosen } = this.choosePins(path, cut, request);
    const chosenMessages = new Set(chosen.map(({ entry }) => entry.message));
    const fromUser = replaced
      .filter((message) => isUserMessage(message))
      .filter((message) => !chosenMessages.has(message));
    const userTokens = estimator.estimate(countPinnedCharacters(fromUser));
    return {
      summarized: describePart(messages, estimator),
      kept: describePart(messagesOf(cut.entriesToKeep), estimator),
      pinned: { ...describePart(fromUser, estimator), tokens: Math.min(userTokens, shares.pinnedTokens) },
      arePinnedShortened: userTokens > shares.pinnedTokens,
      chosen: {
        ...describePart(
          chosen.map(({ entry }) => entry.message),
          estimator,
        ),
        tokens: estimator.estimate(countPinTokens(chosen) / PLAN_RATIO),
      },
      files: extractFileOperations(messages, previous?.details, fileBase),
    };
  }

  /** A cut keeps whole turns, so it may keep far more than it should: a later cut is used then. */
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

  private share(path: readonly SessionEntry[], request: PlannedCompaction): RoomShares {
    const { fixed, keepRecentTokens, limits = this.parts.limits } = request;
    const { estimator } = this.parts;
    const fixedTokens = estimateFixedTokens(fixed);
    const pins = findMessages(path, [...readPins(this.parts.log.entries)]);
    const pinnedMessages = new Set<Message>(pins.map(({ entry }) => entry.message));
    const fromUser = messagesOf(path).filter(isUserMessage);
    const others = fromUser.filter((message) => !pinnedMessages.has(message));
    const userTokens = estimator.estimate(countPinnedCharacters(others));
    const pinTokens = Math.min(limits.maxPinTokens, estimator.estimate(countPinTokens(pins) / PLAN_RATIO));
    return shareRoom(limits, { fixedTokens, userTokens, pinTokens, keepRecentTokens });
  }

  /** The pinned messages that the context would otherwise not show whole after this cut. */
  private choosePins(
    path: readonly SessionEntry[],
    { firstKeptIndex }: CutPointResult,
    { limits = this.parts.limits }: PlannedCompaction,
  ): ReturnType<typeof choosePins> {
    const order = readPins(this.parts.log.entries);
    if (order.size === 0) return { chosen: [], leftOut: 0 };
    const pruned = collectPrunes(path);
    const keptWhole = path.slice(firstKeptIndex).filter(({ id }) => !pruned.has(id));
    const shown = new Set(keptWhole.map(({ id }) => id));
    const hidden = findMessages(path, [...order]).filter(({ entry }) => !shown.has(entry.id));
    return choosePins(hidden, { order, maxTokens: limits.maxPinTokens });
  }

  private async summarizeCut(
    cut: CutPointResult,
    input: { messages: Message[]; previous: CompactionEntry | undefined; request: CompactionRequest },
  ): Promise<WrittenSummary | undefined> {
    const { messages, previous, request } = input;
    const { maxSummaryTokens } = request.limits ?? this.parts.limits;
    try {
      const models = limitSummarizers(this.parts, request.limit);
      const { summary, failure, rung } = await summarizeByLadder(messages, models, {
        maxSummaryTokens,
        previousSummary: previous?.summary,
        focus: request.focus,
        splitTurnAt: splitTurnPosition(cut),
        signal: request.signal,
        maxRetries: this.parts.maxRetries,
        fileBase: this.parts.fileBase,
        tokensPerCharacter: this.parts.estimator.ratio,
        onUsage: (usage, model) => request.countUsage?.(usage, model, "summary"),
        emit: request.emit,
      });
      if (failure !== undefined) request.emit?.(madeByProgram(failure));
      const validation = assessSummary({ summary, failure }, messages, this.parts.fileBase);
      for (const warning of summaryWarnings(validation)) request.emit?.(warning);
      return { summary, rung, validation };
    } catch (error) {
      if (request.signal?.aborted) return undefined;
      throw error;
    }
  }

  private append(
    request: CompactionRequest,
    systemPrompt: string,
    made: Pick<
      CompactionEntry,
      "summary" | "firstKeptEntryId" | "details" | "pinnedTokens" | "pinnedEntryIds" | "recall"
    >,
  ): CompactionEntry {
    const { estimator, log } = this.parts;
    const todos = [...findTodos(log)];
    const content = { ...made, tokensBefore: request.tokens, ...(todos.length > 0 && { todos }) };
    const type = "compaction" as const;
    const draft = { type, ...content, id: "", parentId: log.leafId, timestamp: "", tokensAfter: 0 };
    const tokensAfter = estimateRequest(
      {
        fixedCharacters: countFixedCharacters({ ...request.fixed, systemPrompt }),
        messages: contextMessages([...log.conversation(), draft]).map(({ message }) => message),
      },
      estimator,
    );
    const entry = log.append((place) => ({ type, ...place, ...content, tokensAfter }));
    promptsBefore.set(entry, request.fixed.systemPrompt);
    return entry;
  }

  private toPlanTokens(tokens: number): number {
    return Math.floor((tokens * PLAN_RATIO) / this.parts.estimator.ratio);
  }
}

function isUserMessage(message: Message): message is UserMessage {
  return message.role === "user";
}

/** The index, among the summarized messages, at which the split turn begins. */
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

function pinsLeftOut(count: number): AgentEvent {
  const message = `${count === 1 ? "One pinned message does" : `${count} pinned messages do`} not fit into this model's window and ${
    count === 1 ? "is" : "are"
  } left out of the summary. /pin lists them.`;
  return { type: "notice", level: "warning", code: "pins_left_out", message };
}

function madeByProgram(failure: string): AgentEvent {
  const message = `Used a fallback summary: ${failure}`;
  return { type: "notice", level: "warning", code: "compaction_fallback", message };
}

/** Compacts while no other process does so in the same session. */
export class ExclusiveCompactor extends Compactor {
  constructor(
    parts: CompactorDeps,
    private readonly gate: CompactionLock,
  ) {
    super(parts);
  }

  override compact(request: CompactionRequest): Promise<CompactionOutcome> {
    const { signal, emit } = request;
    return this.gate.compact(() => super.compact(request), { signal, emit, isRunning: true });
  }
}

const TOOL = "add_knowledge";
// Enough for a dozen entries.
const MAX_TOKENS = 2_048;

/**
 * Before a part of the conversation is summarized, the model may record what would be lost, with one request that is
 * neither kept nor shown. What it saves is reported; a failure is not, since nothing depends on it.
 */
export async function flushKnowledge(
  agentConfig: AgentLoopConfig,
  request: Omit<UpcomingRequest, "overflow">,
): Promise<void> {
  if (!agentConfig.tools.some((tool) => tool.name === TOOL && !tool.isRefused?.())) return;
  const { context, signal, emit, countUsage, limit } = request;
  const asked = { role: "user" as const, content: FLUSH_INSTRUCTION.trim(), timestamp: now() };
  try {
    const streamFunction = limit?.(agentConfig.streamFunction) ?? agentConfig.streamFunction;
    const calls = await makeSideRequest(
      { ...agentConfig, streamFunction },
      {
        context: { ...context, messages: [...context.messages, asked] },
        toolName: TOOL,
        purpose: "knowledge",
        maxTokens: MAX_TOKENS,
        signal,
        countUsage: (usage, model) => countUsage(usage, model, "knowledge"),
      },
    );
    for (const { input, metadata } of calls) {
      const { knowledgeId } = metadata;
      if (typeof knowledgeId !== "string") continue;
      emit({ type: "knowledge_saved", knowledgeId, content: String(input.content ?? "") });
    }
  } catch {
    // The compaction does not depend on it, and reports a provider that is down.
  }
}
