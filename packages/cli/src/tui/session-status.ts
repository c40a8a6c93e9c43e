import type { ProjectSession } from "@diligent/core/harness";
import {
  addUsage,
  computeCost,
  EMPTY_USAGE,
  findKnownModel,
  type Model,
  type SessionEntry,
  type Usage,
} from "@diligent/core/run";
import type { Status } from "./view.ts";

/** The requests to one model in a session. */
export interface ModelSpend {
  modelId: string;
  requests: number;
  usage: Usage;
  /** US dollars at today's prices; null if they are unknown. */
  cost: number | null;
}

/** How full the model's window is, for the status line. */
export function toContextStatus({ session }: Pick<ProjectSession, "session">): Partial<Status> {
  const { tokens, isEstimate, compactsAt, contextWindow } = session.branches.contextSnapshot;
  return { contextTokens: tokens, isContextEstimated: isEstimate, compactsAt, contextWindow };
}

/** The status line for a session that was opened or has moved to another entry. */
export function toStatus(opened: ProjectSession): Partial<Status> {
  const { model, cwd, approval, effort, gitBranch, jobs, sandbox, session, renderers } = opened;
  const spends = countSpends(session.branches.entries, model);
  return {
    model: model.id,
    ...toContextStatus(opened),
    sessionTokens: spends.reduce((sum, { usage }) => sum + countTokens(usage), 0),
    cost: sumCosts(spends, model),
    approvalMode: approval.mode,
    isSandboxed: sandbox.isSandboxed,
    jobs: jobs.runningCount,
    cwd,
    gitBranch,
    renderers,
    effort,
  };
}

/**
 * The usage in all branches of a session, by model. Requests for summaries are not in the file, so they are
 * not included.
 */
export function countSpends(entries: readonly SessionEntry[], current: Model): ModelSpend[] {
  const spends = new Map<string, ModelSpend>();
  for (const entry of entries) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const { model: modelId, usage } = entry.message;
    const before = spends.get(modelId) ?? { modelId, requests: 0, usage: EMPTY_USAGE, cost: 0 };
    const model = modelId === current.id ? current : findKnownModel(modelId);
    const cost = model ? computeCost(usage, model) : null;
    spends.set(modelId, {
      modelId,
      requests: before.requests + 1,
      usage: addUsage(before.usage, usage),
      cost: before.cost === null || cost === null ? null : before.cost + cost,
    });
  }
  return [...spends.values()];
}

/** Null once any price is unknown, including that of the current model. */
export function sumCosts(spends: readonly ModelSpend[], { inputCostPer1M }: Model): number | null {
  if (inputCostPer1M === undefined) return null;
  return spends.reduce<number | null>(
    (sum, { cost }) => (sum === null || cost === null ? null : sum + cost),
    0,
  );
}

/** The total tokens of a request: input, including cached tokens, and output. */
export function countTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}
