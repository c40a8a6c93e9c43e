import type { KnowledgeConfig } from "./types.ts";

const MAX_BUDGET_TOKENS = 8_192;

// Of a small window, knowledge must leave the most to the work.
const BUDGET_SHARE = 10;

/**
 * What holds for knowledge with a model: a configured budget as it is, else 8,192 tokens and at most a tenth of the
 * window.
 * @param contextWindow tokens.
 */
export function resolveKnowledgeConfig(
  settings: { enabled?: boolean | undefined; injectionBudget?: number | undefined } = {},
  contextWindow: number,
): KnowledgeConfig {
  return {
    enabled: settings.enabled ?? true,
    injectionBudget:
      settings.injectionBudget ?? Math.min(MAX_BUDGET_TOKENS, Math.floor(contextWindow / BUDGET_SHARE)),
  };
}
