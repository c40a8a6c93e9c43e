import type { Model, ProviderError, StreamContext } from "../provider/types.ts";
import { createToolRegistry, isOffered, type ToolRegistry, toToolDefinition } from "../tool/registry.ts";
import type { RunBudget, Tool } from "../tool/types.ts";
import {
  type AssistantMessage,
  EMPTY_USAGE,
  type Message,
  messageText,
  promptText,
  type ToolDefinition,
  type Usage,
  type UserMessage,
} from "../types.ts";
import { estimateMostCost, limitRequests, SharedBudget } from "./budget.ts";
import { computeCost } from "./cost.ts";
import { LoopDetector } from "./loop-detector.ts";
import type {
  AgentEvent,
  AgentLoopConfig,
  NoticeLevel,
  PreparedContext,
  SteeredMessage,
  UsagePurpose,
} from "./types.ts";

/** The state of one run of the loop. */
export class Run {
  readonly history: RunHistory;
  readonly tools: RunTools;
  readonly signal: AbortSignal;
  /** Turns and cost, of this run and of those that its calls start. */
  readonly budget: RunBudget;
  /** Ends the reservation for the request under way. */
  private release: (() => void) | undefined;
  private items = 0;

  constructor(
    messages: readonly Message[],
    readonly config: AgentLoopConfig,
    readonly emit: (event: AgentEvent) => void,
  ) {
    this.history = new RunHistory(messages, config.systemPrompt);
    this.tools = new RunTools(config);
    this.budget = config.budget ?? new SharedBudget(config);
    this.signal = config.signal ?? new AbortController().signal;
  }

  get context(): StreamContext {
    return this.history.toContext(selectShown(this.tools.registry.definitions, this.config.model));
  }

  get isOverCost(): boolean {
    return this.budget.isOverCost;
  }

  /** Awaited before a model request: near the cost limit it waits for requests of other runs that share the budget. */
  async beginRequest(): Promise<void> {
    if (this.budget.limits.maxCost === undefined) return;
    this.release = await this.budget.admit(estimateMostCost(this.config.model, this.context), this.signal);
  }

  /** Called once the request's cost is counted. */
  endRequest(): void {
    this.release?.();
    this.release = undefined;
  }

  nextItemId(kind: "message" | "tool" | "approval"): string {
    this.items++;
    return this.toId(kind, this.items);
  }

  /** @param turn counted from 1. */
  toTurnId(turn: number): string {
    return this.toId("turn", turn);
  }

  now(): number {
    return this.config.now?.() ?? this.history.lastTimestamp ?? 0;
  }

  private toId(kind: string, number: number): string {
    const { runId } = this.config;
    return runId === undefined ? `${kind}-${number}` : `${kind}-${runId}-${number}`;
  }

  /** Records a finished message: on disk first, so that nothing is shown as finished that could still be lost. */
  keep(message: Message): void {
    this.config.record?.(message);
    this.history.add(message);
  }

  /** Adds the messages the user sent meanwhile; true when there were any. */
  takeSteering(): boolean {
    const taken = this.config.takeSteering?.() ?? [];
    for (const steered of taken) {
      this.keep("role" in steered ? steered : steered.message);
      this.emit(toSteeringEvent(steered));
    }
    return taken.length > 0;
  }

  /** Adds the notes for the model that there are. */
  takeNotes(): void {
    for (const text of this.config.takeNotes?.() ?? []) this.addNote(text);
  }

  /** True if the answer is not the last one: a note for the model has joined the conversation. */
  async reviewAnswer(message: AssistantMessage): Promise<boolean> {
    const text = await this.config.reviewAnswer?.(messageText(message), this.signal);
    if (text === undefined || this.signal.aborted) return false;
    this.addNote(text);
    return true;
  }

  private addNote(text: string): void {
    this.keep({ role: "user", content: text, timestamp: this.now() });
    this.emit({ type: "steering", text, isNote: true });
  }

  /**
   * Shortens the next request if necessary; true when it was shortened.
   * @param overflow the provider's error when this request was refused as too long.
   * @throws the error that ends the run.
   */
  async prepareContext(overflow?: ProviderError): Promise<boolean> {
    const prepared = await this.config.prepareContext?.({
      context: this.context,
      overflow,
      signal: this.signal,
      emit: this.emit,
      countUsage: (usage, model, purpose) => this.countUsage(usage, model, purpose),
      limit: (streamFunction) => limitRequests(streamFunction, this.budget),
    });
    if (!prepared) return false;
    this.history.replace(prepared);
    return true;
  }

  /** Adds up the costs of requests, including repeated ones. */
  countUsage(usage: Usage, model: Model = this.config.model, purpose?: UsagePurpose): void {
    if (usage === EMPTY_USAGE) return;
    const cost = computeCost(usage, model);
    this.budget.addCost(cost);
    this.emit({ type: "usage", usage, cost, ...(purpose && { purpose }) });
  }

  notice(level: NoticeLevel, code: string, message: string): void {
    this.emit({ type: "notice", level, code, message });
  }
}

/** The content of the run's next request: the messages so far, after the system prompt. */
class RunHistory {
  /** The messages this run added; never shortened. */
  readonly added: Message[] = [];
  private messages: Message[];

  constructor(
    messages: readonly Message[],
    private systemPrompt: string,
  ) {
    this.messages = [...messages];
  }

  /** When the newest message was made, in milliseconds since the epoch; undefined while there is none. */
  get lastTimestamp(): number | undefined {
    return this.messages.at(-1)?.timestamp;
  }

  add(message: Message): void {
    this.messages.push(message);
    this.added.push(message);
  }

  /** Continues from a shortened context. */
  replace({ messages, systemPrompt }: PreparedContext): void {
    this.messages = [...messages];
    this.systemPrompt = systemPrompt ?? this.systemPrompt;
  }

  toContext(tools: StreamContext["tools"]): StreamContext {
    return { systemPrompt: this.systemPrompt, messages: this.messages, tools };
  }
}

/** The tools of one run and the state of its calls. */
class RunTools {
  readonly registry: ToolRegistry;
  readonly loopDetector = new LoopDetector();
  /** True when a call of the last reply with calls was refused because no user was available to approve it. */
  unattendedRejection = false;
  private hasChanged = false;

  /** @throws Error when two tools share a name. */
  constructor(private readonly config: Pick<AgentLoopConfig, "tools" | "changes">) {
    this.registry = createToolRegistry(config.tools);
  }

  /** Records what the next call may change. @param writes see `ChangeTracker`. */
  async keepChanges(
    writes: string | undefined,
    notify: (level: NoticeLevel, code: string, message: string) => void,
  ): Promise<void> {
    const isFirst = !this.hasChanged;
    this.hasChanged = true;
    await this.config.changes?.beforeChanges({ isFirst, notify, writes });
  }
}

/** The event for a message that has joined the conversation. */
export function toSteeringEvent(steered: UserMessage | SteeredMessage): AgentEvent {
  if ("role" in steered) return { type: "steering", text: promptText(steered) };
  const { message, id, isNote } = steered;
  return { type: "steering", text: promptText(message), id, ...(isNote && { isNote }) };
}

/** Converts tools into the definitions that are sent to the model. */
export function describeTools(tools: readonly Tool[], model: Model): readonly ToolDefinition[] {
  return selectShown(tools.filter(isOffered).map(toToolDefinition), model);
}

/** Only a provider that can defer tools gets those that are deferred. */
function selectShown(tools: readonly ToolDefinition[], { defersTools }: Model): readonly ToolDefinition[] {
  if (defersTools || !tools.some(({ isDeferred }) => isDeferred)) return tools;
  return tools.filter(({ isDeferred }) => !isDeferred);
}
