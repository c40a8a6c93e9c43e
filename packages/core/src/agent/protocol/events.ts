import { z } from "zod";
import type { AgentEvent } from "../types.ts";

const count = z.number().int().nonnegative();
const record = z.record(z.string(), z.unknown());

const usage = z
  .object({ inputTokens: count, outputTokens: count, cacheReadTokens: count, cacheWriteTokens: count })
  .describe("Tokens. inputTokens excludes tokens read from or written to a cache.");

const contentBlock = z.object({
  type: z.enum(["text", "image", "thinking", "tool_call", "opaque"]),
});

const userMessage = z.object({
  role: z.literal("user"),
  content: z.union([z.string(), z.array(contentBlock)]),
  timestamp: z.number(),
});

const assistantMessage = z.object({
  role: z.literal("assistant"),
  content: z.array(contentBlock),
  model: z.string(),
  usage,
  stopReason: z.enum(["end_turn", "tool_use", "max_tokens", "error", "aborted"]),
  rawStopReason: z.string().optional(),
  timestamp: z.number(),
});

const toolOutcome = z.enum(["failed", "rejected", "skipped", "interrupted"]);

const toolResult = z.object({
  role: z.literal("tool_result"),
  toolCallId: z.string(),
  toolName: z.string(),
  output: z.string(),
  isError: z.boolean(),
  outcome: toolOutcome.optional(),
  timestamp: z.number(),
});

const error = z
  .object({
    name: z.string(),
    message: z.string(),
    stack: z.string().optional(),
    errorType: z.string().optional(),
  })
  .describe("An error; message is one line for people.");

const stopReason = z.enum([
  ...(["end_turn", "max_tokens", "refusal", "max_turns", "max_cost", "loop", "approval", "error"] as const),
  "aborted",
]);

const level = z.enum(["info", "warning", "error"]);
const todo = z.object({
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]),
  activeForm: z.string().optional(),
});
const permission = z.string().describe("read, write, execute, mcp or fetch.");
const rule = z.object({ permission, pattern: z.string(), action: z.enum(["allow", "deny", "ask", "try"]) });

const call = { itemId: z.string(), toolCallId: z.string(), toolName: z.string() };

const delta = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), delta: z.string() }),
  z.object({ type: z.literal("thinking_delta"), delta: z.string() }),
  z.object({ type: z.literal("tool_call_delta"), id: z.string(), delta: z.string() }),
]);

function event<Type extends string, Shape extends z.ZodRawShape>(type: Type, about: string, shape: Shape) {
  return z.object({ type: z.literal(type), ...shape }).describe(about);
}

const approvalRequest = z.object({
  permission,
  toolName: z.string(),
  description: z.string().describe("One line for people."),
  details: record.optional().describe("{path}, {files}, {command}, {host, port}, or the arguments."),
});

const evidence = {
  checks: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      command: z.string(),
      exitCode: z.number().int().nullable(),
      passed: count.optional(),
      failed: count.optional(),
      isStale: z.boolean().describe("A file was changed after it."),
      laterEdits: count.optional(),
      part: z.string().optional(),
    }),
  ),
  missing: z.array(z.string()).describe("Kinds of checks that did not run."),
  unsupported: z.array(z.string()).describe("Claims of the answer that no check shows."),
  lacking: z.array(z.string()).optional().describe("What is missing of the required evidence."),
};

/** The events of a run, but `agent_event`, which contains one of them. */
const EVENTS = [
  event("agent_start", "A run begins.", {}),
  event("agent_end", "A run has ended. messages are those it added, oldest first.", {
    messages: z.array(z.discriminatedUnion("role", [userMessage, assistantMessage, toolResult])),
    stopReason,
    error: error.optional(),
  }),
  event("turn_start", "The model is asked.", { turnId: z.string() }),
  event("turn_end", "A reply and the results of its calls are complete.", {
    turnId: z.string(),
    message: assistantMessage,
    toolResults: z.array(toolResult),
  }),
  event("message_start", "A reply begins. The same itemId again: the request was retried.", {
    itemId: z.string(),
    message: assistantMessage,
  }),
  event("message_delta", "A piece of the reply.", { itemId: z.string(), delta }),
  event("message_end", "The reply is complete and saved.", { itemId: z.string(), message: assistantMessage }),
  event("tool_start", "A call begins.", { ...call, input: z.unknown() }),
  event("tool_update", "The newest output of a call, or the arguments that the user chose.", {
    ...call,
    partialResult: z.string(),
    input: record.optional(),
  }),
  event("tool_end", "A call has ended; output is what the model reads.", {
    ...call,
    output: z.string(),
    isError: z.boolean(),
    outcome: toolOutcome.optional(),
    input: record.optional(),
    metadata: record.optional(),
  }),
  event("status_change", "Whether a request is under way.", {
    status: z.enum(["idle", "busy", "retry"]),
    retry: z.object({ attempt: count, delayMs: z.number() }).optional(),
  }),
  event("usage", "The tokens and the cost of one request, in US dollars; null if the price is unknown.", {
    usage,
    cost: z.number().nullable(),
    purpose: z.string().optional().describe("Set for a request that is not part of the conversation."),
  }),
  event("error", "An error; a fatal one ends the run.", { error, fatal: z.boolean() }),
  event("notice", "A message for people; code is for programs.", {
    level,
    code: z.string(),
    message: z.string(),
  }),
  event("steering", "A message has joined the run.", {
    text: z.string(),
    id: z.string().optional(),
    isNote: z.literal(true).optional(),
  }),
  event("job_update", "A command in the background.", {
    id: z.string(),
    state: z.enum(["running", "ended", "killed"]),
    command: z.string(),
    exitCode: z.number().int().optional(),
  }),
  event("prune", "Old results were shortened for the model.", {
    entryIds: z.array(z.string()),
    tokensBefore: count,
    tokensAfter: count,
  }),
  event("compaction_start", "The conversation is being summarized.", {
    estimatedTokens: count,
    trigger: z.enum(["threshold", "overflow", "manual"]),
    focus: z.string().optional(),
    cutEntryIds: z.array(z.string()),
    keptEntryIds: z.array(z.string()),
    tokensByCause: z.record(z.string(), z.number()),
  }),
  event("compaction_end", "The conversation was summarized.", {
    tokensBefore: count,
    tokensAfter: count,
    summary: z.string(),
    durationMs: z.number(),
    rung: z.enum(["model", "session_model", "program"]),
    validation: z.object({
      characters: count,
      isLong: z.boolean(),
      keywords: z.array(z.string()),
      missingKeywords: z.array(z.string()),
      failure: z.string().optional(),
    }),
  }),
  event("network", "A connection has ended, or was refused.", {
    host: z.string(),
    port: z.number().int(),
    allowed: z.boolean(),
    by: z.string(),
    bytes: z.number(),
    bytesSent: z.number().optional(),
    purpose: z.string(),
    problem: z.string().optional(),
    command: z.string().optional(),
  }),
  event("hook", "A hook of the user or the project has run.", {
    event: z.string(),
    command: z.string().describe("Its command or address."),
    durationMs: z.number().int(),
    outcome: z.enum(["ok", "blocked", "failed", "timeout"]),
    problem: z.string().optional(),
  }),
  event("rule_violation", "A call, or the end of a turn, was refused because a rule forbids it.", {
    rule: z.string().describe("The sentence."),
    source: z.string().describe("Its file, or configuration."),
    line: count.describe("From 1; 0 in the configuration."),
    name: z.string(),
  }),
  event("masked", "Secrets were masked that the session had not masked before.", {
    count,
    kinds: z.array(z.string()).describe("Such as github-token; key and variable for configured ones."),
  }),
  event("todo", "The checklist of the model, all of it.", { todos: z.array(todo) }),
  event("mcp_server", "A server of the Model Context Protocol has changed its state.", {
    name: z.string(),
    state: z.enum(["idle", "connecting", "ready", "failed"]),
    tools: count.optional(),
    error: z.string().optional(),
  }),
  event("evidence", "What was checked in this turn, and what the answer claims without it.", evidence),
  event("knowledge_saved", "Knowledge for later sessions was saved.", {
    knowledgeId: z.string(),
    content: z.string(),
  }),
  event("approval_request", "The user is asked, or the request was refused.", {
    requestId: z.string(),
    request: approvalRequest,
    toolCallId: z.string().optional(),
    gate: z.string().describe("The rule that applies."),
    mode: z.string().optional().describe("The approval mode."),
    needed: z
      .object({
        mode: z.string().optional(),
        parts: z.array(z.string()).readonly().optional(),
        rules: z.array(rule).readonly().optional(),
      })
      .optional()
      .describe("What would allow it; set when nobody could be asked."),
    agentId: z.string().optional(),
    parentToolCallId: z.string().optional(),
    choices: z
      .array(
        z.object({
          reach: z.enum(["exact", "prefix", "program"]),
          allows: z.array(z.string()).readonly(),
          examples: z.array(z.string()).readonly(),
        }),
      )
      .readonly()
      .optional()
      .describe("What always can mean."),
  }),
] as const;

const RunEventSchema = z.discriminatedUnion("type", EVENTS);

const agentEvent = event("agent_event", "An event of a sub-agent, one of the others.", {
  agentId: z.string(),
  agent: z.string(),
  parentToolCallId: z.string(),
  event: record,
});

const result = {
  sessionId: z.string(),
  result: z.string().describe("The text of the last reply."),
  stopReason,
  usage,
  cost: z.number().nullable().describe("US dollars; null if the price is unknown."),
  turns: count,
  durationMs: count,
  error: error.optional(),
  evidence: z.object(evidence).optional(),
};

/** The lines that are not events of a run. */
const LINES = [
  event("session", "The first line.", {
    sessionId: z.string(),
    model: z.string(),
    cwd: z.string(),
    version: z.string(),
  }),
  event("result", "The last line.", result),
  event("input_error", "A line of the input was not understood, and nothing else happened.", {
    message: z.string(),
  }),
  event("question", "The model asks; an answer line with this requestId answers.", {
    requestId: z.string(),
    questions: z.array(
      z.object({
        question: z.string(),
        header: z.string().optional(),
        options: z.array(z.object({ label: z.string(), description: z.string().optional() })),
        multiSelect: z.boolean().optional(),
      }),
    ),
  }),
] as const;

const StreamLineSchema = z.discriminatedUnion("type", [...EVENTS, agentEvent, ...LINES]);

// An event that the schema does not have, or has with other fields, does not compile.
type Covers<Known, Actual extends Known> = Actual;
/** The events of a run, as the schema knows them. */
export type CoveredEvent =
  | Covers<z.input<typeof RunEventSchema>, Exclude<AgentEvent, { type: "agent_event" }>>
  | Covers<
      z.input<typeof agentEvent>,
      Omit<Extract<AgentEvent, { type: "agent_event" }>, "event"> & { event: Record<string, unknown> }
    >;

/** The JSON Schema of one line of the output of stream-json. Later versions may add fields and types. */
export function eventJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(StreamLineSchema, { io: "input" }),
    title: "diligent output line",
    description:
      "One line of the output of diligent -p --output-format stream-json. Ignore types you do not know.",
  };
}
