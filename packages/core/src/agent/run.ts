import type { Model, ProviderError, StreamContext } from "../provider/types.ts";
import type { Message, Usage } from "../types.ts";
import { EMPTY_USAGE } from "../types.ts";
import { computeCost } from "./cost.ts";
import { RunHistory } from "./run-history.ts";
import { RunTools } from "./run-tools.ts";
import { toSteeringEvent } from "./steering-event.ts";
import type { AgentEvent, AgentLoopConfig, NoticeLevel, UsagePurpose } from "./types.ts";

/** What one run of the loop knows and has done so far. */
export class Run {
  readonly history: RunHistory;
  readonly tools: RunTools;
  readonly signal: AbortSignal;
  /** US dollars; null once a price was unknown. */
  private cost: number | null = 0;
  private items = 0;

  constructor(
    messages: readonly Message[],
    readonly config: AgentLoopConfig,
    readonly emit: (event: AgentEvent) => void,
  ) {
    this.history = new RunHistory(messages, config.systemPrompt);
    this.tools = new RunTools(config);
    this.signal = config.signal ?? new AbortController().signal;
  }

  get context(): StreamContext {
    return this.history.toContext(this.tools.registry.definitions);
  }

  get isOverCost(): boolean {
    const { maxCost } = this.config;
    return maxCost !== undefined && this.cost !== null && this.cost >= maxCost;
  }

  nextItemId(kind: "message" | "tool" | "approval"): string {
    this.items++;
    return `${kind}-${this.items}`;
  }

  now(): number {
    return this.config.now?.() ?? this.history.lastTimestamp ?? 0;
  }

  /** Keeps a finished message: on disk first, so that nothing is shown as finished that could still be lost. */
  keep(message: Message): void {
    this.config.record?.(message);
    this.history.add(message);
  }

  /** Takes in what the user sent meanwhile; true when there was something. */
  takeSteering(): boolean {
    const taken = this.config.takeSteering?.() ?? [];
    for (const steered of taken) {
      this.keep("role" in steered ? steered : steered.message);
      this.emit(toSteeringEvent(steered));
    }
    return taken.length > 0;
  }

  /**
   * Lets the next request be shortened where it has to be; true when it was.
   * @param overflow why it has to be, when it was made and refused.
   * @throws what says that the run cannot go on.
   */
  async prepareContext(overflow?: ProviderError): Promise<boolean> {
    const prepared = await this.config.prepareContext?.({
      context: this.context,
      overflow,
      signal: this.signal,
      emit: this.emit,
      countUsage: (usage, model, purpose) => this.countUsage(usage, model, purpose),
    });
    if (!prepared) return false;
    this.history.replace(prepared);
    return true;
  }

  /** Adds up what the requests cost, those included that were repeated. */
  countUsage(usage: Usage, model: Model = this.config.model, purpose?: UsagePurpose): void {
    if (usage === EMPTY_USAGE) return;
    const cost = computeCost(usage, model);
    this.cost = cost === null || this.cost === null ? null : this.cost + cost;
    this.emit({ type: "usage", usage, cost, ...(purpose && { purpose }) });
  }

  notice(level: NoticeLevel, code: string, message: string): void {
    this.emit({ type: "notice", level, code, message });
  }
}
