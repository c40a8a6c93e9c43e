import type { AgentLoopConfig, UpcomingRequest } from "../../agent/types.ts";
import type { Environment } from "../../infrastructure/environment.ts";
import type { Model } from "../../provider/types.ts";
import { calibrationKey, readCalibration, saveCalibration } from "../compaction/calibration-store.ts";
import type { SessionLog } from "../session-log.ts";
import { type CalibrationStore, Calibrator } from "./calibrator.ts";
import { Compactor, type CompactorParts } from "./compactor.ts";
import type { GuardOptions } from "./context-guard.ts";
import { ContextWindow } from "./context-window.ts";
import { ExclusiveCompactor } from "./exclusive-compactor.ts";
import { flushKnowledge } from "./flush-knowledge.ts";
import type { ContextLimits } from "./settings.ts";

/** Puts together what keeps a session within its model's window. */
export function openContextWindow(
  log: SessionLog,
  agentConfig: AgentLoopConfig,
  options: GuardOptions & { limits: ContextLimits },
): ContextWindow {
  const { maxRetries, model, streamFunction } = agentConfig;
  const { buildSystemPrompt, calibrationPlace, gate, limits } = options;
  const calibrator = new Calibrator(openCalibrationStore(model, calibrationPlace));
  const parts: CompactorParts = {
    log,
    limits,
    estimator: calibrator.estimator,
    own: { model, streamFunction },
    maxRetries,
    preferred: options.summarizer,
    renewSystemPrompt: async (before) => (buildSystemPrompt ? buildSystemPrompt() : before),
  };
  const compactor = gate ? new ExclusiveCompactor(parts, gate) : new Compactor(parts);
  const flush = options.flushKnowledge
    ? (request: UpcomingRequest) => flushKnowledge(agentConfig, request)
    : undefined;
  return new ContextWindow({ log, limits, calibrator, compactor, modelId: model.id, flush });
}

/** A script counts as it was told to: nothing is learned from it, and nothing that was learned holds for it. */
function openCalibrationStore(model: Model, place: Environment | undefined): CalibrationStore {
  const { conditions, provider } = model;
  const key = calibrationKey(model);
  const kept = provider === "scripted" ? undefined : place;
  return {
    read: () => (conditions ? conditions.calibration : kept && readCalibration(kept, key)),
    save: (calibration) => {
      if (kept) void saveCalibration(kept, key, calibration);
    },
  };
}
