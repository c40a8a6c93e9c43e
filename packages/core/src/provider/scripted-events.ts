import { z } from "zod";
import { countedUsageSchema } from "./scripted-usage-schema.ts";

const replay = z.strictObject({ provider: z.string(), data: z.unknown() }).exactOptional();
const input = z.record(z.string(), z.unknown());

/** What is streamed of a reply; see `ProviderEvent`. */
export const eventSchema = z.discriminatedUnion("type", [
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

const blockSchema = z.discriminatedUnion("type", [
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

/** What the events come to. */
export const replySchema = z.strictObject({
  content: z.array(blockSchema),
  usage: countedUsageSchema,
  stopReason: z.enum(["end_turn", "tool_use", "max_tokens", "error", "aborted"]),
  rawStopReason: z.string().exactOptional(),
});

/** An event of a script's. */
export type ScriptEvent = z.output<typeof eventSchema>;
/** What the events of a turn come to. */
export type ScriptReply = z.output<typeof replySchema>;
