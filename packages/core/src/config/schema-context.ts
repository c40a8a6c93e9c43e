import { z } from "zod";
import type { CompactionSettings, PruningConditions } from "../types.ts";

const isOn = (what: string) => z.boolean().optional().describe(what);

const count = (what: string) => z.number().int().positive().optional().describe(what);

const countOrNone = (what: string) => z.number().int().nonnegative().optional().describe(what);

/** `session`: how one begins. The descriptions of keys are what editors show; so in the schemas below. */
export const SessionSettingsSchema = z.strictObject({
  autoResume: isOn("Continue the project's most recent session instead of beginning a new one."),
});

/** `knowledge`: what is kept across sessions, and how much of it a prompt gets. */
export const KnowledgeSettingsSchema = z.strictObject({
  enabled: isOn("Remember things about the project across sessions."),
  nudgeInterval: count("Turns after which the model is reminded to record what it has learnt."),
  injectionBudget: count(
    "Tokens of knowledge in the system prompt; by default 8192, and at most a tenth of the model's window.",
  ),
  flushBeforeCompaction: isOn(
    "Let the model record knowledge before an automatic compaction, with one extra request.",
  ),
});

const PruningSettingsSchema = z.strictObject({
  enabled: isOn("Shorten old tool results in what the model sees; the session file keeps them whole."),
  softTrimChars: count("Characters above which an old result keeps only its head and tail."),
  softTrimHead: countOrNone("Characters kept of its beginning."),
  softTrimTail: countOrNone("Characters kept of its end."),
  hardClearAfter: count("Results after which an older one is replaced by a placeholder."),
  keepLast: countOrNone("Most recent results that are never touched."),
  minimumTokens: count(
    "Tokens that have to be gained before anything is shortened; by default 20000, and at most an eighth of the window.",
  ),
} satisfies Record<keyof PruningConditions, z.ZodType>);

/** `compaction`: what is left out depends on the model's window, see `toContextLimits`. */
export const CompactionSettingsSchema = z.strictObject({
  enabled: isOn("Summarise the conversation when the model's window runs full."),
  reserveTokens: count(
    "Tokens of the window that are kept free; by default 16384, and at most a quarter of the window.",
  ),
  keepRecentTokens: count(
    "Tokens of the most recent conversation that are not summarised; by default 20000, and at most a quarter of the window.",
  ),
  model: z
    .string()
    .min(1)
    .optional()
    .describe("Id or alias of the model that writes summaries; by default the one in use."),
  pruning: PruningSettingsSchema.optional().describe("How old tool results are shortened."),
} satisfies Record<keyof CompactionSettings | "model", z.ZodType>);
