import { calibrationKey, readCalibration } from "@diligent/core/interactive";
import type { CompactionSettings, Environment, LoadedConfig, Model } from "@diligent/core/run";

interface Surroundings {
  environment: Environment;
  loaded: Pick<LoadedConfig, "config">;
  /** False: what was learned of models is not used. */
  persist: boolean;
  /** The command line's. */
  maxTurns?: number | undefined;
  /** The command line's, in US dollars. */
  maxCost?: number | undefined;
}

/**
 * The model under the conditions that a recording holds and a replay goes by, read once: nothing that another process
 * learns meanwhile may change the run. A recording that is played has its own, where the command line sets no other limit.
 */
export function withConditions(model: Model, surroundings: Surroundings): Model {
  const conditions = model.conditions ?? conditionsOf(model, surroundings);
  const { maxTurns = conditions.maxTurns, maxCost = conditions.maxCost } = surroundings;
  return { ...model, conditions: { ...conditions, maxTurns, maxCost } };
}

function conditionsOf(
  model: Model,
  { environment, loaded, persist }: Surroundings,
): NonNullable<Model["conditions"]> {
  const { compaction = {}, knowledge, maxRetries, maxTurns } = loaded.config;
  const { enabled, reserveTokens, keepRecentTokens, pruning } = compaction;
  const isLearned = persist && model.provider !== "scripted";
  return {
    compaction: { enabled, reserveTokens, keepRecentTokens, pruning } satisfies Record<
      keyof CompactionSettings,
      unknown
    >,
    flushKnowledge: knowledge?.flushBeforeCompaction,
    maxRetries,
    maxTurns,
    calibration: isLearned ? readCalibration(environment, calibrationKey(model)) : undefined,
  };
}
