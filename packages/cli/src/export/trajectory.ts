import {
  type AssistantMessage,
  addUsage,
  assertNever,
  type ContentBlock,
  EMPTY_USAGE,
  isConversationEntry,
  type Message,
  messageText,
  type SessionEntry,
  type SessionHeader,
  type ToolResultMessage,
  toolCallsOf,
  type Usage,
} from "@diligent/core/run";
import { UsageError } from "../errors.ts";
import { VERSION } from "../version.ts";

/**
 * The version of the Agent Trajectory Interchange Format, of the Harbor project, that is written. Version 1.8 adds only
 * audio, which sessions do not have, and older readers accept no later version than their own.
 */
const SCHEMA_VERSION = "ATIF-v1.7";

const NOTES = [
  "Exported from a session of diligent: the current branch, with all entries that later summaries replaced.",
  "Not in it, because the session file does not have it: the system prompt and the tools' definitions.",
  "Left out: hooks, labels, pins, and abandoned branches (their summaries are system steps).",
  "Images are data: URLs. Costs are those of the day of the request, for older sessions those of the day of the export.",
  "The tokens of requests outside of the conversation, such as for summaries, are in final_metrics.extra; their cost is in the sum.",
].join(" ");

/** One session, as far as a trajectory needs it. */
export interface TrajectorySession {
  header: SessionHeader;
  /** The conversation from its beginning, including what was summarized. */
  path: readonly SessionEntry[];
  /** The whole file: links to sub-agents are beside the conversation. */
  entries: readonly SessionEntry[];
  name?: string | undefined;
}

/** What a trajectory takes from outside its session. */
export interface TrajectorySources {
  /** In US dollars; null if the model's price is unknown. */
  costOf(usage: Usage, modelId: string): number | null;
  /** The session of a sub-agent; undefined if it was deleted or cannot be read. */
  readSubAgent(sessionId: string): TrajectorySession | undefined;
}

interface ContentPart {
  type: "text" | "image";
  text?: string;
  source?: { media_type: string; path: string };
}

interface ObservationResult {
  source_call_id?: string;
  content: string | ContentPart[];
  subagent_trajectory_ref?: { trajectory_id: string; session_id: string; extra: { agent: string } }[];
  extra?: Record<string, unknown>;
}

interface Metrics {
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  cost_usd?: number;
  extra?: Record<string, number>;
}

interface Step {
  step_id: number;
  timestamp?: string;
  source: "system" | "user" | "agent";
  model_name?: string;
  reasoning_effort?: string;
  message: string | ContentPart[];
  reasoning_content?: string;
  tool_calls?: {
    tool_call_id: string;
    function_name: string;
    arguments: Record<string, unknown>;
    extra?: Record<string, unknown>;
  }[];
  observation?: { results: ObservationResult[] };
  metrics?: Metrics;
  is_copied_context?: true;
  llm_call_count?: number;
  extra?: Record<string, unknown>;
}

/** A conversation as a document of the Agent Trajectory Interchange Format. */
export interface Trajectory {
  schema_version: typeof SCHEMA_VERSION;
  session_id: string;
  trajectory_id: string;
  agent: { name: string; version: string; model_name?: string; extra: Record<string, unknown> };
  steps: Step[];
  notes: string;
  final_metrics: {
    total_prompt_tokens: number;
    total_completion_tokens: number;
    total_cached_tokens: number;
    total_cost_usd?: number;
    total_steps: number;
    extra?: Record<string, number>;
  };
  extra: Record<string, unknown>;
  subagent_trajectories?: Trajectory[];
}

/**
 * Converts a session, with those of its sub-agents.
 * @throws UsageError for a session without messages: a trajectory has at least one step.
 */
export function toTrajectory(session: TrajectorySession, sources: TrajectorySources): Trajectory {
  const trajectory = new TrajectoryBuilder(session, sources, new Set([session.header.id])).build();
  if (!trajectory) throw new UsageError(`session ${session.header.id} has no messages to export`);
  return trajectory;
}

class TrajectoryBuilder {
  private readonly steps: Step[] = [];
  private readonly stepIds = new Map<string, number>();
  private readonly children: Trajectory[] = [];
  private readonly positions: ReadonlyMap<string, number>;
  private usage: Usage = EMPTY_USAGE;
  /** Of requests outside of the conversation. */
  private besides: Record<string, number> = {};
  /** Null once a price is unknown. */
  private cost: number | null = 0;
  private modelId: string | undefined;
  /** The latest step of the model, its entry, and its calls that have no result yet: ids as recorded, then as written. */
  private turn: { step: Step; entryId: string; open: [string, string][] } | undefined;

  constructor(
    private readonly session: TrajectorySession,
    private readonly sources: TrajectorySources,
    /** Those being converted: damaged files could refer to each other. */
    private readonly outer: ReadonlySet<string>,
  ) {
    this.positions = new Map(session.entries.map(({ id }, index) => [id, index]));
  }

  /** Undefined for a session without a step. */
  build(): Trajectory | undefined {
    const { header, name, path } = this.session;
    for (const entry of path) this.add(entry);
    this.addBesides();
    if (this.steps.length === 0) return undefined;
    const { source } = header;
    const childCosts = this.children.map(({ final_metrics }) => final_metrics.total_cost_usd ?? null);
    const cost = [this.cost, ...childCosts].reduce(addCosts);
    const { prompt_tokens, completion_tokens, cached_tokens, extra: kept = {} } = toTokens(this.usage);
    const extra = { ...kept, ...this.besides };
    return {
      schema_version: SCHEMA_VERSION,
      session_id: header.id,
      trajectory_id: header.id,
      agent: {
        name: source?.agent ?? "diligent",
        version: source ? (source.version ?? "unknown") : VERSION,
        ...(this.modelId !== undefined && { model_name: this.modelId }),
        extra: { ...(header.agent !== undefined && { sub_agent: header.agent }) },
      },
      steps: this.steps,
      notes: NOTES,
      final_metrics: {
        total_prompt_tokens: prompt_tokens,
        total_completion_tokens: completion_tokens,
        total_cached_tokens: cached_tokens,
        ...(cost !== null && { total_cost_usd: cost }),
        total_steps: this.steps.length,
        ...(Object.keys(extra).length > 0 && { extra }),
      },
      extra: {
        cwd: header.cwd,
        ...(name !== undefined && { name }),
        ...(header.parentSession !== undefined && { parent_session: header.parentSession }),
        ...(source && { imported_by: `diligent ${VERSION}` }),
      },
      ...(this.children.length > 0 && { subagent_trajectories: this.children }),
    };
  }

  private add(entry: SessionEntry): void {
    if (!isConversationEntry(entry)) return;
    switch (entry.type) {
      case "message":
        this.addMessage(entry.id, entry.message, entry.timestamp);
        break;
      case "compaction": {
        const { summary, firstKeptEntryId, tokensBefore, tokensAfter } = entry;
        this.addContextStep(entry, "Older messages were summarized in the model's context", {
          content: summary,
          management: {
            type: "compaction",
            boundary: "truncate",
            // Those before it are replaced by the summary; the rest stays in the context.
            first_kept_step_id: this.stepIds.get(firstKeptEntryId) ?? this.steps.length + 1,
            tokens_before: tokensBefore,
            tokens_after: tokensAfter,
          },
        });
        break;
      }
      case "prune":
        this.addContextStep(entry, "Old tool results were shortened in the model's context", {
          management: {
            type: "pruning",
            boundary: "truncate",
            cleared_step_ids: this.stepsOf(entry.cleared),
            trimmed_step_ids: this.stepsOf(entry.trimmed),
          },
        });
        break;
      case "compaction_undo":
        this.addContextStep(entry, "The last summary was undone", {
          management: { type: "compaction_undo", boundary: "append" },
        });
        break;
      case "branch_summary":
        this.addContextStep(entry, "An abandoned branch was summarized", {
          content: entry.summary,
          management: { type: "injection", boundary: "append" },
        });
        break;
      // The model of each step is in the step.
      case "model_change":
        break;
      default:
        assertNever(entry);
    }
  }

  private addContextStep(
    { id, timestamp }: SessionEntry,
    message: string,
    { content, management }: { content?: string; management: Record<string, unknown> },
  ): void {
    this.addStep(id, timestamp, {
      source: "system",
      message,
      ...(content !== undefined && { observation: { results: [{ content }] } }),
      extra: { context_management: management },
    });
  }

  private addStep(
    entryId: string,
    timestamp: string | number,
    step: Omit<Step, "step_id" | "timestamp">,
  ): Step {
    const at = new Date(timestamp);
    const made: Step = {
      step_id: this.steps.length + 1,
      ...(!Number.isNaN(at.getTime()) && { timestamp: at.toISOString() }),
      ...step,
      ...(this.isCopied(at) && { is_copied_context: true }),
    };
    this.steps.push(made);
    this.stepIds.set(entryId, made.step_id);
    return made;
  }

  /** A fork begins with copies that are older than itself. */
  private isCopied(at: Date): boolean {
    const { parentSession, agent, timestamp } = this.session.header;
    return parentSession !== undefined && agent === undefined && at.getTime() < Date.parse(timestamp);
  }

  private addMessage(entryId: string, message: Message, timestamp: string): void {
    switch (message.role) {
      case "user":
        this.addStep(entryId, timestamp, { source: "user", message: toContent(message.content) });
        break;
      case "assistant":
        this.addTurn(entryId, message, timestamp);
        break;
      case "tool_result":
        this.addResult(entryId, message, timestamp);
        break;
      default:
        assertNever(message);
    }
  }

  private addTurn(entryId: string, message: AssistantMessage, timestamp: string): void {
    const { content, model, usage, stopReason, rawStopReason } = message;
    this.modelId = model;
    const reasoning = content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
    const open: [string, string][] = [];
    const calls = toolCallsOf(message).map(({ id, name, input, invalidInput }) => {
      const written = uniqueId(id, open);
      open.push([id, written]);
      const extra = invalidInput === undefined ? {} : { extra: { invalid_arguments: invalidInput } };
      return { tool_call_id: written, function_name: name, arguments: input, ...extra };
    });
    const metrics = this.toMetrics(usage, this.findCost(entryId, message));
    const effort = this.findEffort(entryId);
    const step = this.addStep(entryId, timestamp, {
      source: "agent",
      model_name: model,
      ...(effort !== undefined && { reasoning_effort: effort }),
      message: messageText(message),
      ...(reasoning.join("").trim() !== "" && { reasoning_content: reasoning.join("\n\n") }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(metrics && { metrics }),
      llm_call_count: 1,
      extra: { stop_reason: stopReason, ...(rawStopReason && { raw_stop_reason: rawStopReason }) },
    });
    this.turn = { step, entryId, open };
  }

  /** The thinking level that was chosen before an entry; undefined for the model's default. */
  private findEffort(entryId: string): string | undefined {
    const before = this.positions.get(entryId) ?? 0;
    const { entries } = this.session;
    const chosen = entries.findLast(({ type }, index) => type === "settings" && index < before);
    return chosen?.type === "settings" ? chosen.effort : undefined;
  }

  /** The recorded cost of a reply; sessions of earlier versions have none, so it is computed. */
  private findCost(entryId: string, { usage, model }: AssistantMessage): number | null {
    const { entries } = this.session;
    const parentId = entries[this.positions.get(entryId) ?? -1]?.parentId;
    const request = entries.find(
      (entry) =>
        entry.type === "request" &&
        entry.purpose === undefined &&
        entry.parentId === parentId &&
        Bun.deepEquals(entry.usage, usage),
    );
    return request?.type === "request" ? request.cost : this.sources.costOf(usage, model);
  }

  private addBesides(): void {
    const requests = this.session.entries.flatMap((entry) =>
      entry.type === "request" && entry.purpose !== undefined ? [entry] : [],
    );
    if (requests.length === 0) return;
    const { prompt_tokens, completion_tokens } = toTokens(
      requests.reduce((sum, { usage }) => addUsage(sum, usage), EMPTY_USAGE),
    );
    this.cost = requests.reduce<number | null>((sum, { cost }) => addCosts(sum, cost), this.cost);
    this.besides = {
      requests_outside_conversation: requests.length,
      prompt_tokens_outside_conversation: prompt_tokens,
      completion_tokens_outside_conversation: completion_tokens,
    };
  }

  /** Undefined if nothing is known, as of a reply that was stopped. */
  private toMetrics(usage: Usage, cost: number | null): Metrics | undefined {
    const tokens = toTokens(usage);
    if (tokens.prompt_tokens + tokens.completion_tokens === 0) return undefined;
    this.usage = addUsage(this.usage, usage);
    this.cost = addCosts(this.cost, cost);
    const { extra, ...counts } = tokens;
    return { ...counts, ...(cost !== null && { cost_usd: cost }), ...(extra && { extra }) };
  }

  private addResult(entryId: string, message: ToolResultMessage, timestamp: string): void {
    const { toolCallId, toolName, output, images = [], isError, outcome, input, metadata } = message;
    const index = this.turn?.open.findIndex(([id]) => id === toolCallId) ?? -1;
    const [call] = index < 0 ? [] : (this.turn?.open.splice(index, 1) ?? []);
    const reference = call && this.referToSubAgent(toolCallId);
    const result: ObservationResult = {
      ...(call ? { source_call_id: call[1] } : {}),
      content: images.length === 0 ? output : toContent([{ type: "text", text: output }, ...images]),
      ...(reference && { subagent_trajectory_ref: [reference] }),
      extra: {
        is_error: isError,
        ...(outcome && { outcome }),
        ...(!call && { tool_call_id: toolCallId, tool_name: toolName }),
        ...(input && { changed_arguments: input }),
        ...(metadata && { metadata }),
      },
    };
    // Only a damaged file has a result without its call.
    const step =
      call && this.turn
        ? this.turn.step
        : this.addStep(entryId, timestamp, { source: "system", message: "A tool result without its call" });
    step.observation = { results: [...(step.observation?.results ?? []), result] };
    this.stepIds.set(entryId, step.step_id);
  }

  /** The sub-agent that worked on a call of the latest turn; its session is embedded. */
  private referToSubAgent(toolCallId: string) {
    const from = this.positions.get(this.turn?.entryId ?? "") ?? 0;
    const { entries } = this.session;
    const links = entries.filter((entry) => entry.type === "task_link" && entry.toolCallId === toolCallId);
    // A later call may have the same id. An imported session has its links elsewhere.
    const link = links.find(({ id }) => (this.positions.get(id) ?? 0) > from) ?? links[0];
    if (link?.type !== "task_link" || this.outer.has(link.sessionId)) return undefined;
    const { sessionId, agent } = link;
    if (!this.children.some(({ trajectory_id }) => trajectory_id === sessionId)) {
      const session = this.sources.readSubAgent(sessionId);
      const outer = new Set([...this.outer, sessionId]);
      const child = session && new TrajectoryBuilder(session, this.sources, outer).build();
      if (!child) return undefined;
      this.children.push({ ...child, trajectory_id: sessionId });
    }
    return { trajectory_id: sessionId, session_id: sessionId, extra: { agent } };
  }

  private stepsOf(entryIds: readonly string[]): number[] {
    return [...new Set(entryIds.flatMap((id) => this.stepIds.get(id) ?? []))];
  }
}

/** The format's prompt includes what was read from and written to a cache. */
function toTokens(usage: Usage): Omit<Metrics, "cost_usd"> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, webSearches } = usage;
  const extra = {
    ...(cacheWriteTokens > 0 && { cache_creation_input_tokens: cacheWriteTokens }),
    ...(webSearches !== undefined && { web_searches: webSearches }),
  };
  return {
    prompt_tokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    completion_tokens: outputTokens,
    cached_tokens: cacheReadTokens,
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function addCosts(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return null;
  // Sums of binary fractions have noise; a billionth of a dollar is below every price.
  return Math.round((left + right) * 1e9) / 1e9;
}

/** Text as a string; with images, a list of parts. */
function toContent(content: string | readonly ContentBlock[]): string | ContentPart[] {
  if (typeof content === "string") return content;
  const parts = content.flatMap((block): ContentPart[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }];
    if (block.type !== "image") return [];
    const { mediaType, data } = block.source;
    return [{ type: "image", source: { media_type: mediaType, path: `data:${mediaType};base64,${data}` } }];
  });
  return parts.some(({ type }) => type === "image") ? parts : parts.map(({ text }) => text).join("\n\n");
}

/** Only a damaged or imported reply names two calls alike, which the format forbids. */
function uniqueId(id: string, taken: readonly [string, string][]): string {
  let written = id;
  for (let number = 2; taken.some(([, other]) => other === written); number++) written = `${id}#${number}`;
  return written;
}
