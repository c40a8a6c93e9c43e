import { z } from "zod";
import type { CompactionSettings, PruningConditions } from "../../types.ts";
import { PROVIDER_ERROR_TYPES } from "../errors.ts";

const tokens = z.int().min(0);

/** The token counts that a reply reports. */
const usageSchema = z.strictObject({
  inputTokens: tokens.optional().describe("Default: characters of the request / 4."),
  outputTokens: tokens.optional().describe("Default: characters of the reply / 4."),
  cacheReadTokens: tokens.optional().describe("Default: 0."),
  cacheWriteTokens: tokens.optional().describe("Default: 0."),
  webSearches: tokens.optional().describe("Searches by the provider's own tool. Default: 0."),
});

/** The same with all values present, so that nothing is estimated. */
const countedUsageSchema = z.strictObject({
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: tokens,
  webSearches: tokens.optional(),
});

const replay = z.strictObject({ provider: z.string(), data: z.unknown() }).exactOptional();
const input = z.record(z.string(), z.unknown());

/** One streamed event of a reply; see `ProviderEvent`. */
const eventSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("start") }),
  z.strictObject({ type: z.literal("text_delta"), delta: z.string() }),
  z.strictObject({ type: z.literal("text_end"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking_delta"), delta: z.string() }),
  z.strictObject({
    type: z.literal("thinking_end"),
    thinking: z.string(),
    signature: z.string().exactOptional(),
  }),
  z.strictObject({ type: z.literal("tool_call_start"), id: z.string(), name: z.string() }),
  z.strictObject({ type: z.literal("tool_call_delta"), id: z.string(), delta: z.string() }),
  z.strictObject({ type: z.literal("tool_call_end"), id: z.string(), name: z.string(), input }),
  z.strictObject({ type: z.literal("usage"), usage: countedUsageSchema }),
  z.strictObject({ type: z.literal("stall"), silentMs: z.number().min(0) }),
]);

const eventBlockSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string(), replay }),
  z.strictObject({
    type: z.literal("thinking"),
    thinking: z.string(),
    signature: z.string().exactOptional(),
    replay,
  }),
  z.strictObject({
    type: z.literal("tool_call"),
    id: z.string(),
    name: z.string(),
    input,
    invalidInput: z.string().exactOptional(),
    replay,
  }),
  z.strictObject({ type: z.literal("opaque"), provider: z.string(), raw: z.unknown() }),
]);

/** The reply that the events add up to. */
const replySchema = z.strictObject({
  content: z.array(eventBlockSchema),
  usage: countedUsageSchema,
  stopReason: z.enum(["end_turn", "tool_use", "max_tokens", "error", "aborted"]),
  rawStopReason: z.string().exactOptional(),
});

/** An event of a script's turn. */
export type ScriptEvent = z.output<typeof eventSchema>;
/** The reply that the events of a turn add up to. */
export type ScriptReply = z.output<typeof replySchema>;

const dollars = z.number().min(0).exactOptional();
const count = z.number().min(0).optional();
const tokenLimit = z.int().min(1);

const prices = {
  inputCostPer1M: dollars,
  outputCostPer1M: dollars,
  cacheReadCostPer1M: dollars,
  cacheWriteCostPer1M: dollars,
};

/** US dollars per million tokens. */
const priceSchema = z.strictObject({
  ...prices,
  longContext: z
    .strictObject({ ...prices, aboveInputTokens: z.int().min(0) })
    .exactOptional()
    .describe("The price of a request whose input, cached tokens included, is longer than aboveInputTokens."),
});

const pruningSchema = z.strictObject({
  enabled: z.boolean().optional(),
  softTrimChars: count,
  softTrimHead: count,
  softTrimTail: count,
  hardClearAfter: count,
  keepLast: count,
  minimumTokens: count,
  protectTokens: count,
  startRatio: z.number().min(0).max(1).optional(),
} satisfies Record<keyof PruningConditions, z.ZodType>);

const compactionSchema = z.strictObject({
  enabled: z.boolean().optional(),
  reserveTokens: count,
  keepRecentTokens: count,
  maxContextTokens: count,
  pruning: pruningSchema.optional(),
} satisfies Record<keyof CompactionSettings, z.ZodType>);

/** The settings that determined a recorded run besides the replies; see `RunConditions`. */
export const conditionsSchema = z.strictObject({
  compaction: compactionSchema.optional().describe("The settings under compaction in the configuration."),
  flushKnowledge: z.boolean().optional().describe("The setting knowledge.flushBeforeCompaction."),
  nudgeInterval: z.int().min(1).optional().describe("The setting knowledge.nudgeInterval."),
  maxRetries: z.int().min(0).optional().describe("The setting maxRetries."),
  maxTurns: z.int().min(1).optional().describe("The limit of --max-turns, or else the setting maxTurns."),
  maxCost: z.number().positive().optional().describe("The limit of --max-cost, in US dollars."),
  calibration: z
    .strictObject({ ratio: z.number().positive(), samples: z.int().min(0) })
    .optional()
    .describe(
      "Measurements of the tokenizer: tokens per character, and the number of requests they are based on.",
    ),
  summarizer: z
    .strictObject({
      contextWindow: tokenLimit.exactOptional(),
      maxInputTokens: tokenLimit.exactOptional(),
      maxOutputTokens: tokenLimit.exactOptional(),
      ...priceSchema.shape,
    })
    .optional()
    .describe("The model that wrote the summaries, if it was a different one."),
});

/** The stop reasons providers are known to give. A script may use any other word, as a new provider might. */
const KNOWN_STOP_REASONS = [
  "end_turn",
  "tool_use",
  "max_tokens",
  "stop_sequence",
  "refusal",
  "pause_turn",
  "model_context_window_exceeded",
  "error",
  "aborted",
] as const;

// A longer delay overflows the runtime's timer, which would then not wait at all.
const MAX_DELAY_MS = 2_147_483_647;

const delay = z.number().min(0).max(MAX_DELAY_MS);

/** The pattern of tool call ids that every provider accepts; see `CALL_ID`. */
export const MAX_CALL_ID_CHARS = 128;

/** A tool call id that every provider accepts. */
export const CALL_ID = /^[a-zA-Z0-9_-]{1,128}$/;

const toolCallSchema = z.strictObject({
  id: z
    .string()
    .regex(CALL_ID, "use 1 to 128 letters, digits, _ or -, as providers do")
    .optional()
    .describe("Default: call_N, where this is the Nth tool call of the whole script."),
  name: z.string().min(1).describe("The tool to call. An unknown name gets an error result."),
  input: z
    .unknown()
    .describe(
      "The arguments, an object. A string is sent verbatim in place of the arguments' JSON, so that broken JSON can be played.",
    ),
});

const errorSchema = z.strictObject({
  errorType: z
    .enum(PROVIDER_ERROR_TYPES)
    .describe("The kind of failure; it decides whether the request is retried."),
  message: z.string().min(1).describe("The message that the user sees."),
  retryAfterMs: z
    .number()
    .min(0)
    .optional()
    .describe("The delay that the provider asks for, in milliseconds."),
  contextWindow: z
    .int()
    .min(1)
    .optional()
    .describe("For context_overflow: the window in tokens, if the provider states it."),
  requestTokens: tokenLimit
    .optional()
    .describe("For context_overflow: the tokens of the refused request, if the provider states them."),
});

const words = z.string().exactOptional();

const blockSchema = z.strictObject({
  type: z
    .enum(["thinking", "text", "tool_call", "opaque"])
    .describe(
      "tool_call: the next of the turn's toolCalls. opaque: a part that only the provider understands.",
    ),
  thinking: words.describe("For a thinking block. Default: the turn's thinking."),
  signature: words.describe("For a thinking block: proves to the provider that the thinking is its own."),
  text: words.describe("For a text block. Default: the turn's text."),
  replay: z
    .strictObject({ provider: z.string(), data: z.unknown() })
    .exactOptional()
    .describe("The part of the block that only this provider understands."),
  provider: words.describe("For an opaque block: the provider that understands it."),
  raw: z.unknown().optional().describe("For an opaque block: its content."),
});

const turnSchema = z.strictObject({
  thinking: z.string().optional().describe("The model's thinking, before the text."),
  text: z.string().optional().describe("The model's text, before its tool calls."),
  toolCalls: z.array(toolCallSchema).optional().describe("The model's tool calls, in order."),
  content: z
    .array(blockSchema)
    .optional()
    .describe(
      "The blocks of the reply, in order. Needed if the fields above do not describe all of it: several texts, signatures, parts that only the provider understands. Recordings contain them.",
    ),
  stopReason: z
    .union([z.enum(KNOWN_STOP_REASONS), z.string().min(1)])
    .optional()
    .describe("Default: tool_use when there are tool calls, else end_turn."),
  usage: usageSchema
    .optional()
    .describe("The token counts that the reply reports; missing ones are estimated."),
  startUsage: usageSchema
    .optional()
    .describe("The token counts that the reply reports when it begins. Default: none."),
  delayMs: delay.optional().describe("Delay before the first word, in milliseconds. Default: 0."),
  chunkDelayMs: delay.optional().describe("Delay between two chunks, in milliseconds. Default: 0."),
  chunkChars: z
    .int()
    .min(1)
    .optional()
    .describe("Characters per chunk. Default: whole words, about 12 characters."),
  chunks: z
    .array(z.int().min(1))
    .optional()
    .describe(
      "The number of characters in each chunk, across thinking, text and the arguments of each call. The rest is split as usual. Recordings contain them.",
    ),
  events: z
    .array(eventSchema)
    .optional()
    .describe(
      "The events to stream, instead of thinking, text and toolCalls. Recordings contain them if those fields cannot describe how the reply arrived.",
    ),
  reply: replySchema
    .optional()
    .describe("The reply that the events add up to; missing if the request fails."),
  error: errorSchema.optional().describe("The request fails, after the rest of the turn."),
});

/** The file behind a model `scripted/PATH`: the replies of a provider that needs no network. */
export const scriptSchema = z
  .strictObject({
    $schema: z.string().optional().describe("For editors: the location of this file's JSON Schema."),
    version: z.literal(1),
    contextWindow: z
      .int()
      .min(1)
      .optional()
      .describe("The context window of the model, in tokens. Default: 200000."),
    maxInputTokens: z
      .int()
      .min(1)
      .exactOptional()
      .describe("The limit of a request without its answer, in tokens, if it is below the context window."),
    maxOutputTokens: z
      .int()
      .min(1)
      .optional()
      .describe("The limit of one answer, in tokens. Default: at most 16384."),
    price: priceSchema
      .optional()
      .describe("US dollars per million tokens; a recording has the prices of its model. Default: unknown."),
    conditions: conditionsSchema
      .optional()
      .describe(
        "In a recording: the other conditions that determined the run. They take precedence over the configuration.",
      ),
    turns: z.array(turnSchema).describe("One reply for each model request, in order."),
    summaries: z
      .array(turnSchema)
      .optional()
      .describe(
        "The replies to requests for a summary of the conversation. Default: these requests take from turns.",
      ),
  })
  .meta({
    title: "diligent script",
    description: "The replies of a scripted model, for demonstrations and tests.",
  });

/** A validated script: the replies of a model that needs no network. */
export type Script = z.output<typeof scriptSchema>;
/** One reply of a script. */
export type ScriptTurn = z.output<typeof turnSchema>;
/** A call in a script. `input` may be text instead of an object; it is then sent verbatim. */
export type ScriptToolCall = z.output<typeof toolCallSchema>;
/** A block of a turn's `content`. */
export type ScriptBlock = z.output<typeof blockSchema>;

/** The JSON Schema (draft 2020-12) of a script, for editors. */
export function scriptJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(scriptSchema, { io: "input" }) };
}
