import type { AgentLoopConfig, Model, SessionManager, StreamFunction } from "@diligent/core/run";
import { chooseModel, type ModelAccess } from "./choose-model.ts";
import { UsageError } from "./usage-error.ts";

/** What is to be another one from the next request on; what is left out stays. */
export interface ModelChange {
  /** An id or alias. */
  modelId?: string | undefined;
  effort?: AgentLoopConfig["effort"];
}

interface ChangeAccess extends Pick<ModelAccess, "cwd" | "config"> {
  /** Puts around a model what the session's own has, such as the retry wrapper. */
  wrap(stream: StreamFunction): StreamFunction;
  /** US dollars. */
  maxCost?: number | undefined;
}

/**
 * Lets another model answer in a session that is open, or the same one think more or less. The conversation, its prompt
 * and what was allowed stay.
 * @returns the model that answers now, if it is another one.
 * @throws UsageError as `chooseModel` does, Error while a run is going on; nothing is changed then.
 */
export async function changeModel(
  session: SessionManager,
  { modelId, effort }: ModelChange,
  { wrap, maxCost, ...access }: ChangeAccess,
): Promise<Model | undefined> {
  session.assertIdle();
  const effortChange = effort === undefined ? {} : { effort };
  if (modelId === undefined) {
    session.useModel(effortChange);
    return undefined;
  }
  const wishes = { ...access, modelId, path: session.branches.path };
  const { model, streamFunction } = await chooseModel(wishes);
  assertPriced(model, maxCost);
  session.useModel({ model, streamFunction: wrap(streamFunction), ...effortChange });
  return model;
}

/** @throws UsageError when costs are limited and nobody knows what this model costs. */
export function assertPriced({ id, inputCostPer1M }: Model, maxCost: number | undefined): void {
  if (maxCost === undefined || inputCostPer1M !== undefined) return;
  throw new UsageError(`--max-cost needs a price, and that of ${id} is unknown. Use --max-turns instead.`);
}
