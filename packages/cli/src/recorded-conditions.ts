import { calibrationKey, readCalibration } from "@diligent/core/interactive";
import type { CompactionSettings, Environment, LoadedConfig, Model } from "@diligent/core/run";

interface Surroundings {
  environment: Environment;
  loaded: Pick<LoadedConfig, "config">;
  /** False: what was learned of models is not used. */
  persist: boolean;
}

/**
 * The model under the conditions that a recording holds and a replay goes by, read once: nothing that another process
 * learns meanwhile may change the run. A recording that is played has its own.
 */
export function withConditions(model: Model, { environment, loaded, persist }: Surroundings): Model {
  if (model.conditions) return model;
  const { compaction = {}, knowledge, maxRetries } = loaded.config;
  const { enabled, reserveTokens, keepRecentTokens, pruning } = compaction;
  const isLearned = persist && model.provider !== "scripted";
  const conditions = {
    compaction: { enabled, reserveTokens, keepRecentTokens, pruning } satisfies Record<
      keyof CompactionSettings,
      unknown
    >,
    flushKnowledge: knowledge?.flushBeforeCompaction,
    maxRetries,
    calibration: isLearned ? readCalibration(environment, calibrationKey(model)) : undefined,
  };
  return { ...model, conditions };
}
