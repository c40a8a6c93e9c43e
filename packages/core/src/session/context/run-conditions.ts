import type { AgentLoopConfig } from "../../agent/types.ts";
import type { Model, ModelFacts } from "../../provider/types.ts";
import type { GuardOptions } from "./context-guard.ts";

/**
 * The options that hold for a model: of a run that is recorded, and of its replays, those of its `conditions`, whatever is
 * configured. A script has its own summaries, so nobody else is asked for them.
 */
export function optionsFor(
  { model, streamFunction }: Pick<AgentLoopConfig, "model" | "streamFunction">,
  options: GuardOptions,
): GuardOptions {
  const { conditions } = model;
  if (!conditions) return options;
  const { compaction, flushKnowledge, summarizer: facts } = conditions;
  const held = { ...options, compaction, flushKnowledge };
  if (model.provider !== "scripted") return held;
  const summarizer = facts && (async () => ({ model: standIn(model, facts), streamFunction }));
  return { ...held, summarizer };
}

/**
 * What a run with a model is held with: under its `conditions` requests are repeated as often, and the run stops where
 * those say, whatever is configured.
 */
export function runConfigFor(config: AgentLoopConfig): AgentLoopConfig {
  const { conditions } = config.model;
  if (!conditions) return config;
  const { maxRetries, maxTurns, maxCost } = conditions;
  return { ...config, maxRetries, maxTurns, maxCost };
}

/** A model that answers as this one does and is as large and as dear as another. */
function standIn({ id, provider, thinking, ...own }: Model, facts: ModelFacts): Model {
  const { contextWindow, maxOutputTokens } = own;
  return { id, provider, ...(thinking && { thinking }), contextWindow, maxOutputTokens, ...facts };
}
