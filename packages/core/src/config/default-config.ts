import type { DiligentConfig } from "./schema.ts";

/**
 * What holds where nothing is set. Numbers that depend on the model's window are not here: they are scaled by whoever
 * knows the window, while a configured number is taken as it is. Nor is `approval`, which depends on whether somebody
 * is there to be asked. The numbers of `pruning` are those of the compaction plan.
 */
export const DEFAULT_CONFIG: Readonly<DiligentConfig> = {
  // The provider's DEFAULT_MODEL, which this folder may not import; a test keeps the two equal.
  model: "claude-sonnet-5-5",
  session: { autoResume: false },
  knowledge: { enabled: true, flushBeforeCompaction: false },
  compaction: {
    enabled: true,
    pruning: {
      enabled: true,
      softTrimChars: 4_000,
      softTrimHead: 1_500,
      softTrimTail: 1_500,
      hardClearAfter: 6,
      keepLast: 2,
    },
  },
  terminal: { title: true, notify: "auto" },
  sandbox: "auto",
};
