import type { Model, StreamContext } from "../provider/types.ts";
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
  /** US dollars; null as soon as one price is unknown. */
  private cost: number | null = 0;
  private turns = 0;
  /** The most that the requests under way can cost, in US dollars. */
  private reserved = 0;
  /** The most expensive request so far, in US dollars. */
  private highest = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(readonly limits: BudgetLimits) {}

  get isOverCost(): boolean {
    const { maxCost } = this.limits;
    return maxCost !== undefined && this.cost !== null && this.cost >= maxCost;
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
    this.cost = cost === null || this.cost === null ? null : this.cost + cost;
    this.highest = Math.max(this.highest, cost ?? 0);
  }

  async admit(estimate: number | null, signal: AbortSignal): Promise<() => void> {
    const { maxCost } = this.limits;
    if (maxCost === undefined || estimate === null) return () => {};
    // A provider may count more than can be estimated here: images, or its own prompt.
    const most = Math.max(estimate, this.highest * MARGIN);
    // A request may exceed the limit, two may not: while those under way might reach it, the next one waits for them.
    while (this.reserved > 0 && !signal.aborted && (this.cost ?? 0) + this.reserved >= maxCost)
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
