import type { AgentLoopConfig, UpcomingRequest } from "../../agent/types.ts";
import type { Environment } from "../../infrastructure/environment.ts";
import type { Model } from "../../provider/types.ts";
import { calibrationKey, readCalibration, saveCalibration } from "../compaction/calibration-store.ts";
import type { SessionLog } from "../session-log.ts";
import { type CalibrationStore, Calibrator } from "./calibrator.ts";
import { Compactor, type CompactorParts } from "./compactor.ts";
import type { ContextOptions } from "./context-guard.ts";
import { ContextWindow } from "./context-window.ts";
import { ExclusiveCompactor } from "./exclusive-compactor.ts";
import { flushKnowledge } from "./flush-knowledge.ts";
import type { ContextLimits } from "./settings.ts";

/** Puts together what keeps a session within its model's window. */
export function openContextWindow(
  log: SessionLog,
  agentConfig: AgentLoopConfig,
  options: ContextOptions & { limits: ContextLimits },
): ContextWindow {
  const { maxRetries, model, streamFunction } = agentConfig;
  const { buildSystemPrompt, calibrationPlace, gate, limits } = options;
  const calibrator = new Calibrator(calibrationPlace && openCalibrationStore(calibrationPlace, model));
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

function openCalibrationStore(environment: Environment, model: Model): CalibrationStore {
  const key = calibrationKey(model);
  return {
    read: () => readCalibration(environment, key),
    save: (calibration) => void saveCalibration(environment, key, calibration),
  };
}
