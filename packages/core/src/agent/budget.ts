import {
  createProviderStream,
  type Model,
  ProviderError,
  type StreamContext,
  type StreamFunction,
} from "../provider/types.ts";
import type { RunBudget } from "../tool/types.ts";
import type { Usage } from "../types.ts";
import { computeCost } from "./cost.ts";

/** The limits of a run and of the runs that it starts, together. */
interface BudgetLimits {
  /** Model replies; unlimited when left out. */
  maxTurns?: number | undefined;
  /** US dollars; unlimited when left out. */
  maxCost?: number | undefined;
}

// How much more than any before it a request is expected to cost at most.
const MARGIN = 2;

/** Counts the turns and the cost of a run and of the runs that its tools start. */
export class SharedBudget implements RunBudget {
  /** US dollars; what is unknown does not count. */
  private cost = 0;
  private turns = 0;
  /** The most that the requests under way can cost, in US dollars. */
  private reserved = 0;
  /** The most expensive request so far, in US dollars. */
  private highest = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(readonly limits: BudgetLimits) {}

  get isOverCost(): boolean {
    const { maxCost } = this.limits;
    return maxCost !== undefined && this.cost >= maxCost;
  }

  takeTurn(): boolean {
    const { maxTurns } = this.limits;
    if (maxTurns !== undefined && this.turns >= maxTurns) return false;
    this.turns += 1;
    return true;
  }

  /** The turns are those of one prompt, the cost is that of all. */
  beginPrompt(): void {
    this.turns = 0;
  }

  addCost(cost: number | null): void {
    this.cost += cost ?? 0;
    this.highest = Math.max(this.highest, cost ?? 0);
  }

  async admit(estimate: number | null, signal: AbortSignal): Promise<() => void> {
    const { maxCost } = this.limits;
    if (maxCost === undefined || estimate === null) return () => {};
    // A provider may count more than can be estimated here: images, or its own prompt.
    const most = Math.max(estimate, this.highest * MARGIN);
    // A request may exceed the limit, two may not: while those under way might reach it, the next one waits for them.
    while (this.reserved > 0 && !signal.aborted && this.cost + this.reserved >= maxCost)
      await this.nextRelease(signal);
    this.reserved += most;
    return () => {
      this.reserved = Math.max(0, this.reserved - most);
      for (const resume of this.waiting.splice(0)) resume();
    };
  }

  private nextRelease(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  }
}

/** A request that was not made, because a limit of costs is reached; its message says which. */
export class SpendingLimitError extends ProviderError {
  constructor(message: string) {
    super(message, "quota");
  }
}

/**
 * Holds requests outside a conversation to a budget: none is made once its cost limit is reached, and near it each waits
 * for those under way. The caller adds what they cost.
 */
export function limitRequests(streamFunction: StreamFunction, budget: RunBudget): StreamFunction {
  const { maxCost } = budget.limits;
  if (maxCost === undefined) return streamFunction;
  return (model, context, options) => {
    const stream = createProviderStream();
    const { signal = new AbortController().signal } = options;
    void budget.admit(estimateMostCost(model, context), signal).then(async (release) => {
      if (budget.isOverCost) {
        release();
        const error = new SpendingLimitError(`The limit of $${maxCost} was reached.`);
        return stream.push({ type: "error", error });
      }
      const request = streamFunction(model, context, options);
      await request.consume((event) => stream.push(event)).catch(() => {});
      // The cost is added before the next turn of the event loop.
      setTimeout(release, 0);
    });
    return stream;
  };
}

// Fewer characters per token than in any text that models are usually sent.
const LEAST_CHARACTERS_PER_TOKEN = 2;

/** The most that a request can cost, in US dollars; null when the model's price is unknown. */
export function estimateMostCost(model: Model, context: StreamContext): number | null {
  const inputTokens = JSON.stringify(context).length / LEAST_CHARACTERS_PER_TOKEN;
  const tokens: Usage = {
    inputTokens,
    outputTokens: model.maxOutputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  const cost = computeCost(tokens, model);
  const written = computeCost({ ...tokens, inputTokens: 0, cacheWriteTokens: inputTokens }, model);
  return cost === null || written === null ? null : Math.max(cost, written);
}
