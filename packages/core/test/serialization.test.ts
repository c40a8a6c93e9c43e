import { describe, expect, test } from "bun:test";
import { toSerializableError } from "../src/agent/loop.ts";
import type { AgentEvent } from "../src/agent/types.ts";
import { ProviderError } from "../src/provider/errors.ts";
import type { SessionEntry, SessionFileLine, SessionHeader } from "../src/session/types.ts";
import type { Message, Usage } from "../src/types.ts";
import { branchSummary, compaction, prune } from "./support/context-entries.ts";
import { assistant, call, image, result, text, user } from "./support/messages.ts";
import { entry, header, STAMP } from "./support/session-files.ts";

/** One example or more of every variant: a new one does not compile before it is here. */
type Examples<T extends { type: string }> = { [K in T["type"]]: Extract<T, { type: K }>[] };

const usage: Usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
const reply = assistant(
  [
    { type: "thinking", thinking: "hm", signature: "s", replay: { provider: "openai", data: { id: "rs" } } },
    text("hi \u2028 🎉 \ud83d"),
    { ...call("a", "bash", { nested: [{ deep: null }] }), invalidInput: '{"cut' },
    { type: "opaque", provider: "openai", raw: { type: "item" } },
  ],
  { usage, rawStopReason: "tool_use" },
);
const output = result("a", "text", { images: [image()], isError: true });
const error = toSerializableError(new ProviderError("overloaded", "overloaded"));
const tool = { itemId: "tool-1", toolCallId: "a", toolName: "bash" };

const EVENTS: Examples<AgentEvent> = {
  agent_start: [{ type: "agent_start" }],
  agent_end: [
    { type: "agent_end", messages: [user("hi"), reply, output], stopReason: "end_turn" },
    { type: "agent_end", messages: [], stopReason: "error", error },
  ],
  turn_start: [{ type: "turn_start", turnId: "turn-1" }],
  turn_end: [{ type: "turn_end", turnId: "turn-1", message: reply, toolResults: [output] }],
  message_start: [{ type: "message_start", itemId: "message-1", message: reply }],
  message_delta: [
    { type: "message_delta", itemId: "m", message: reply, delta: { type: "text_delta", delta: "a" } },
    { type: "message_delta", itemId: "m", message: reply, delta: { type: "thinking_delta", delta: "a" } },
    {
      type: "message_delta",
      itemId: "m",
      message: reply,
      delta: { type: "tool_call_delta", id: "a", delta: "{" },
    },
  ],
  network: [
    {
      type: "network",
      host: "a.example",
      port: 443,
      allowed: false,
      by: "x",
      bytes: 0,
      purpose: "command",
      command: "curl a.example",
    },
  ],
  evidence: [
    {
      type: "evidence",
      checks: [
        {
          ...{ name: "bun test", kind: "tests", command: "bun test", exitCode: 0, passed: 3, failed: 0 },
          ...{ isStale: true, laterEdits: 1, part: "-t" },
        },
      ],
      missing: ["lint"],
      unsupported: ["All tests pass."],
      lacking: ["types: nothing was run"],
    },
  ],
  message_end: [{ type: "message_end", itemId: "message-1", message: reply }],
  tool_start: [
    { type: "tool_start", ...tool, input: { command: "ls" } },
    { type: "tool_start", ...tool, input: "no JSON" },
  ],
  tool_update: [{ type: "tool_update", ...tool, partialResult: "a\n" }],
  tool_end: [
    { type: "tool_end", ...tool, output: "a", isError: false },
    { type: "tool_end", ...tool, output: "a", isError: true, metadata: { exitCode: 1, diff: "-a\n+b" } },
    { type: "tool_end", ...tool, output: "a", isError: true, outcome: "rejected" },
  ],
  status_change: [
    { type: "status_change", status: "busy" },
    { type: "status_change", status: "retry", retry: { attempt: 2, delayMs: 1000 } },
  ],
  usage: [
    { type: "usage", usage, cost: 0.25 },
    { type: "usage", usage, cost: null },
    { type: "usage", usage, cost: null, purpose: "summary" },
  ],
  error: [{ type: "error", error, fatal: true }],
  notice: [{ type: "notice", level: "warning", code: "not_saved", message: "m" }],
  steering: [
    { type: "steering", text: "rather this" },
    { type: "steering", text: "!ls", id: "steering-1", isNote: true },
  ],
  job_update: [
    { type: "job_update", id: "1", state: "running", command: "npm run dev" },
    { type: "job_update", id: "1", state: "ended", command: "npm run dev", exitCode: 1 },
  ],
  mcp_server: [
    { type: "mcp_server", name: "github", state: "ready", tools: 3 },
    { type: "mcp_server", name: "github", state: "failed", error: "It has ended." },
  ],
  todo: [
    { type: "todo", todos: [] },
    { type: "todo", todos: [{ content: "Test", status: "in_progress", activeForm: "Testing" }] },
  ],
  hook: [
    { type: "hook", event: "PreToolUse", command: "guard.sh", durationMs: 12, outcome: "blocked" },
    { type: "hook", event: "Stop", command: "x", durationMs: 1, outcome: "failed", problem: "exit code 1" },
  ],
  masked: [{ type: "masked", count: 2, kinds: ["github-token", "value"] }],
  rule_violation: [
    { type: "rule_violation", rule: "Never push.", source: "AGENTS.md", line: 3, name: "never-push" },
  ],
  agent_event: [
    {
      type: "agent_event",
      agentId: "20260101000000-abcdef",
      agent: "explore",
      parentToolCallId: "a",
      event: { type: "turn_start", turnId: "turn-1" },
    },
  ],
  prune: [{ type: "prune", entryIds: ["0000000a"], tokensBefore: 142_000, tokensAfter: 120_000 }],
  compaction_start: [
    {
      type: "compaction_start",
      estimatedTokens: 142_000,
      trigger: "threshold",
      cutEntryIds: ["0000000a"],
      keptEntryIds: ["0000000b"],
      tokensByCause: {
        systemPrompt: 2_000,
        tools: 4_000,
        summary: 0,
        user: 6_000,
        assistant: 30_000,
        toolResults: 100_000,
      },
    },
  ],
  compaction_end: [
    {
      type: "compaction_end",
      tokensBefore: 142_000,
      tokensAfter: 28_000,
      summary: "## Goal\n…",
      durationMs: 8_000,
      rung: "program",
      validation: { characters: 900, isLong: false, keywords: [], missingKeywords: [], failure: "busy" },
    },
  ],
  knowledge_saved: [{ type: "knowledge_saved", knowledgeId: "0000000a", content: "tests run with bun" }],
  approval_request: [
    {
      type: "approval_request",
      requestId: "approval-1",
      request: {
        permission: "execute",
        toolName: "bash",
        description: "bash: ls",
        details: { command: "ls" },
      },
      gate: "shell_command",
    },
    {
      type: "approval_request",
      requestId: "approval-2",
      request: { permission: "execute", toolName: "bash", description: "bash: ls; make" },
      gate: "shell_command",
      mode: "deny",
      needed: {
        parts: ["make"],
        rules: [{ permission: "execute", pattern: "make", action: "allow" }],
      },
    },
    {
      type: "approval_request",
      requestId: "approval-3",
      request: {
        permission: "execute",
        toolName: "bash",
        description: "bash: ls",
        agent: { id: "20260101000000-abcdef", name: "explore", description: "Find it" },
      },
      gate: "shell_command",
      agentId: "20260101000000-abcdef",
      parentToolCallId: "a",
    },
  ],
};

const MESSAGES: Record<Message["role"], Message[]> = {
  user: [user("hi"), user([text("look"), image()])],
  assistant: [reply, assistant([], { stopReason: "aborted" })],
  tool_result: [output, result("a")],
};

const BASE = { id: "00000001", parentId: "00000000", timestamp: STAMP };

const ENTRIES: Examples<SessionEntry> = {
  message: [entry("00000001", null, user("hi")), entry("00000002", "00000001", reply)],
  model_change: [{ type: "model_change", ...BASE, provider: "openai", modelId: "gpt-5" }],
  session_info: [
    { type: "session_info", ...BASE, name: "name" },
    { type: "session_info", ...BASE },
  ],
  label: [
    { type: "label", ...BASE, targetId: "00000000", label: "here" },
    { type: "label", ...BASE, targetId: "00000000" },
  ],
  compaction: [
    {
      type: "compaction",
      ...BASE,
      summary: "## Goal\n…",
      firstKeptEntryId: "00000000",
      tokensBefore: 142_000,
      tokensAfter: 28_000,
      details: { readFiles: ["a.ts"], modifiedFiles: [] },
      pinnedTokens: 40_000,
      pinnedEntryIds: ["00000000"],
      todos: [{ content: "Test", status: "in_progress", activeForm: "Testing" }],
    },
    compaction("00000002", "00000001", { firstKeptEntryId: "00000001" }),
  ],
  pin: [
    { type: "pin", ...BASE, targetId: "00000000", pinned: true },
    { type: "pin", ...BASE, targetId: "00000000", pinned: false },
  ],
  compaction_undo: [{ type: "compaction_undo", ...BASE, targetId: "00000000" }],
  prune: [
    prune("00000001", null),
    prune("00000002", "00000001", { cleared: ["a"], trimmed: ["b"], trimHead: 1, trimTail: 0 }),
  ],
  branch_summary: [branchSummary("00000001", null, "went wrong")],
  settings: [
    { type: "settings", ...BASE, effort: "high" },
    { type: "settings", ...BASE },
  ],
  todo: [
    { type: "todo", ...BASE, todos: [] },
    { type: "todo", ...BASE, todos: [{ content: "Test", status: "completed" }] },
  ],
  task_link: [
    { type: "task_link", ...BASE, toolCallId: "a", sessionId: "20260101000000-abcdef", agent: "explore" },
  ],
  rule_violation: [
    {
      type: "rule_violation",
      ...BASE,
      rule: "Never push.",
      source: "AGENTS.md",
      line: 3,
      name: "never-push",
    },
  ],
  hook: [{ type: "hook", ...BASE, event: "PreToolUse", command: "guard.sh", durationMs: 12, outcome: "ok" }],
  request: [
    {
      type: "request",
      ...BASE,
      provider: "anthropic",
      modelId: "claude-opus-5",
      sent: STAMP,
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 90 },
      cost: 0.25,
      parts: { system: 60, "tool:read": 20, user: 20 },
      prefix: { tools: "1a", system: "2b", messages: 3, history: "3c", effort: "high" },
      break: { why: "tools", at: "tools", messagesBefore: 2, detail: "+recall", tokens: 80, cost: null },
    },
    {
      type: "request",
      ...BASE,
      provider: "openai",
      modelId: "gpt-5",
      purpose: "server",
      sent: STAMP,
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
      cost: null,
      parts: {},
    },
  ],
  archive: [{ type: "archive", ...BASE, archived: true }],
  custom: [{ type: "custom", ...BASE, customType: "mine", data: { deep: [1, null] } }],
  unknown: [{ type: "unknown", ...BASE, raw: { type: "hologram", ...BASE, data: [1, null] } }],
};

const HEADERS: SessionHeader[] = [
  header(),
  header({ parentSession: "20260101000000-abcdef" }),
  header({ parentSession: "20260101000000-abcdef", parentEntry: "00000001", agent: "explore" }),
];
const LINES: SessionFileLine[] = [...HEADERS, ...Object.values(ENTRIES).flat()];

const TABLE: readonly (readonly [string, object])[] = [
  ...Object.values(EVENTS).flatMap((examples) =>
    examples.map((event) => [`event ${event.type}`, event] as const),
  ),
  ...Object.values(MESSAGES).flatMap((examples) =>
    examples.map((message) => [`message of ${message.role}`, message] as const),
  ),
  ...LINES.map((line) => [`session line ${line.type}`, line] as const),
];

describe("everything that leaves the core survives JSON", () => {
  test.each(TABLE)("%s", (_, value) => {
    expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value);
  });
});

test("an error becomes plain data, with its kind or its stack", () => {
  expect(error).toEqual({ name: "ProviderError", message: "overloaded", errorType: "overloaded" });
  expect(toSerializableError(new TypeError("bug"))).toEqual({
    name: "TypeError",
    message: "bug",
    stack: expect.stringContaining("serialization.test.ts"),
  });
});
