import { Database } from "bun:sqlite";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Session files of the other agents, written by hand after their documented layouts. Each has a question, two parallel
 * calls, a failed call, an image, thinking, a summary, a call without a result, noise, and a torn last line.
 */
export interface ForeignPlace {
  home: string;
  /** The directory in which the sessions worked. */
  project: string;
}

/** The smallest valid PNG: one pixel. */
export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const TIME = (second: number) => new Date(Date.UTC(2026, 4, 1, 10, 0, second)).toISOString();
const MS = (second: number) => Date.parse(TIME(second));

function writeLines(path: string, lines: readonly object[], end = ""): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join("") + end);
  return path;
}

export const CLAUDE_ID = "0b6f3d62-6f0d-4f5c-9c8e-1f3a5b7c9d11";

/** One line per block; the result of the first of two parallel calls is off the path from the last line. */
export function writeClaudeCode({ home, project }: ForeignPlace): string {
  const folder = project.replace(/[^A-Za-z0-9]/g, "-");
  const path = join(home, ".claude", "projects", folder, `${CLAUDE_ID}.jsonl`);
  let second = 0;
  const line = (uuid: string, parentUuid: string | null, rest: object) => ({
    parentUuid,
    isSidechain: false,
    userType: "external",
    cwd: project,
    sessionId: CLAUDE_ID,
    version: "2.1.330",
    gitBranch: "topic",
    uuid,
    timestamp: TIME(second++),
    ...rest,
  });
  const user = (content: unknown, rest: object = {}) => ({
    type: "user",
    message: { role: "user", content },
    ...rest,
  });
  const usage = {
    input_tokens: 10,
    output_tokens: 20,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 40,
  };
  const reply = (id: string, block: object, rest: object = {}) => ({
    type: "assistant",
    message: {
      id,
      type: "message",
      role: "assistant",
      model: "claude-opus-5",
      content: [block],
      usage,
      ...rest,
    },
  });
  const call = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
  const result = (id: string, content: unknown, rest: object = {}) => ({
    type: "tool_result",
    tool_use_id: id,
    content,
    ...rest,
  });
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };
  writeLines(
    path,
    [
      { type: "mode", mode: "default", sessionId: CLAUDE_ID },
      { type: "file-history-snapshot", messageId: "x", snapshot: {} },
      line("m0", null, user("<system-reminder>be kind</system-reminder>", { isMeta: true })),
      line("u1", "m0", user("Why does the parser fail?")),
      line("a0", "u1", { type: "attachment", attachment: { type: "environment" } }),
      line("b1", "a0", reply("msg_1", { type: "thinking", thinking: "Look first.", signature: "sig" })),
      line("b2", "b1", reply("msg_1", { type: "text", text: "I read two files." })),
      line("b3", "b2", reply("msg_1", call("t1", "Read", { file_path: `${project}/src/parser.ts` }))),
      line("r1", "b3", user([result("t1", "export const parser = 1;")], { toolUseResult: {} })),
      line(
        "b4",
        "b3",
        reply("msg_1", call("t2", "Bash", { command: "bun test parser" }), { stop_reason: "tool_use" }),
      ),
      line("r2", "b4", user([result("t2", [{ type: "text", text: "1 fail" }], { is_error: true })])),
      line("x1", "r2", user("An abandoned question")),
      line("x2", "x1", reply("msg_x", { type: "text", text: "An abandoned answer" })),
      line("u2", "r2", user([{ type: "text", text: "See the screenshot" }, image])),
      line(
        "b5",
        "u2",
        reply("msg_2", { type: "text", text: "The quote is missing." }, { stop_reason: "end_turn" }),
      ),
      line("s1", null, {
        type: "system",
        subtype: "compact_boundary",
        logicalParentUuid: "b5",
        compactMetadata: {
          trigger: "auto",
          preTokens: 1234,
          preservedMessages: { anchorUuid: "s2", uuids: ["u2", "b5"] },
        },
      }),
      line("s2", "s1", user("We fixed the parser so far.", { isCompactSummary: true })),
      line("u3", "s2", user("<command-name>/model</command-name>")),
      line("u4", "u3", user("Now write the file")),
      line("b6", "u4", reply("msg_3", call("t3", "Write", { file_path: "out.txt", content: "x" }))),
      { type: "custom-title", customTitle: "parser work", sessionId: CLAUDE_ID },
    ],
    '{"type":"user","message":{"role":"us',
  );
  const child = join(dirname(path), CLAUDE_ID, "subagents", "agent-abc123.jsonl");
  writeLines(child, [
    { ...line("c1", null, user("Find the tests")), isSidechain: true },
    { ...line("c2", "c1", reply("msg_c", { type: "text", text: "There are three." })), isSidechain: true },
  ]);
  writeFileSync(
    child.replace(".jsonl", ".meta.json"),
    JSON.stringify({ agentType: "explorer", toolUseId: "t1" }),
  );
  return path;
}

export const CODEX_ID = "019a1b2c-3d4e-7f80-9123-456789abcdef";

export function writeCodex({ home, project }: ForeignPlace): string {
  const path = join(
    home,
    ".codex",
    "sessions",
    "2026",
    "05",
    "01",
    `rollout-2026-05-01T10-00-00-${CODEX_ID}.jsonl`,
  );
  let second = 0;
  const line = (type: string, payload: object) => ({ timestamp: TIME(second++), type, payload });
  const item = (payload: object) => line("response_item", payload);
  const said = (role: string, type: string, text: string) =>
    item({ type: "message", role, content: [{ type, text }] });
  const image = { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` };
  const tokens = (input: number) => ({
    total_token_usage: { input_tokens: input },
    last_token_usage: { input_tokens: 100, cached_input_tokens: 60, output_tokens: 7 },
  });
  return writeLines(
    path,
    [
      line("session_meta", {
        id: CODEX_ID,
        timestamp: TIME(0),
        cwd: project,
        cli_version: "0.169.0",
        model_provider: "openai",
        git: { branch: "topic" },
        base_instructions: { text: "the system prompt" },
      }),
      said("developer", "input_text", "be brief"),
      said("user", "input_text", "<environment_context>\n<cwd>/x</cwd></environment_context>"),
      line("turn_context", { model: "gpt-5.6", cwd: project }),
      said("user", "input_text", "Why does the parser fail?"),
      line("event_msg", { type: "user_message", message: "Why does the parser fail?" }),
      item({
        type: "reasoning",
        summary: [{ type: "summary_text", text: "Look first." }],
        encrypted_content: "secret",
      }),
      said("assistant", "output_text", "I read two files."),
      item({
        type: "function_call",
        name: "shell",
        arguments: '{"command":["cat","src/parser.ts"]}',
        call_id: "c1",
      }),
      item({
        type: "custom_tool_call",
        name: "apply_patch",
        input: "*** Begin Patch\n*** Update File: src/parser.ts",
        call_id: "c2",
      }),
      line("event_msg", { type: "exec_command_end", call_id: "c1", exit_code: 0 }),
      item({
        type: "function_call_output",
        call_id: "c1",
        output: "Exit code: 0\nOutput:\nexport const parser",
      }),
      item({
        type: "custom_tool_call_output",
        call_id: "c2",
        output: '{"output":"no match","metadata":{"exit_code":1}}',
      }),
      line("event_msg", { type: "token_count", info: tokens(100) }),
      line("event_msg", { type: "token_count", info: tokens(100) }),
      line("event_msg", { type: "token_count", info: null }),
      item({
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "See the screenshot" }, image],
      }),
      said("assistant", "output_text", "The quote is missing."),
      line("compacted", { message: "We fixed the parser so far.", replacement_history: [] }),
      line("compacted", { message: "We fixed the parser so far.", replacement_history: [] }),
      said("user", "input_text", "Now write the file"),
      item({ type: "function_call", name: "shell", arguments: "not json", call_id: "c3" }),
      item({ type: "function_call_output", call_id: "gone", output: "lost" }),
    ],
    '{"timestamp":"2026-05-01T10',
  );
}

export const PI_ID = "5f1c2d3e";

export function writePi({ home, project }: ForeignPlace): string {
  const folder = `--${project.slice(1).replace(/[/\\:]/g, "-")}--`;
  const path = join(home, ".pi", "agent", "sessions", folder, `2026-05-01T10-00-00_${PI_ID}.jsonl`);
  let second = 0;
  const entry = (type: string, id: string, parentId: string | null, rest: object) => ({
    type,
    id,
    parentId,
    timestamp: TIME(second++),
    ...rest,
  });
  const message = (id: string, parentId: string | null, body: object) =>
    entry("message", id, parentId, { message: { ...body, timestamp: MS(second) } });
  const usage = { input: 10, output: 20, cacheRead: 30, cacheWrite: 40, cost: { total: 0.1 } };
  const reply = (content: object[], stopReason = "stop") => ({
    role: "assistant",
    content,
    provider: "anthropic",
    model: "claude-opus-5",
    usage,
    stopReason,
  });
  const call = (id: string, name: string, args: object) => ({ type: "toolCall", id, name, arguments: args });
  const result = (toolCallId: string, text: string, isError = false) => ({
    role: "toolResult",
    toolCallId,
    toolName: "bash",
    content: [{ type: "text", text }],
    isError,
  });
  return writeLines(
    path,
    [
      { type: "session", version: 3, id: PI_ID, timestamp: TIME(0), cwd: project },
      entry("model_change", "e0", null, { provider: "anthropic", modelId: "claude-opus-5" }),
      message("e1", "e0", { role: "user", content: "Why does the parser fail?" }),
      message(
        "e2",
        "e1",
        reply(
          [
            { type: "thinking", thinking: "Look first.", thinkingSignature: "sig" },
            call("p1", "read", { path: "src/parser.ts" }),
            call("p2", "bash", { command: "bun test parser" }),
          ],
          "toolUse",
        ),
      ),
      message("e3", "e2", result("p1", "export const parser = 1;")),
      message("e4", "e3", result("p2", "1 fail", true)),
      message("x1", "e4", { role: "user", content: "An abandoned question" }),
      entry("branch_summary", "e5", "e4", { fromId: "x1", summary: "A branch went nowhere." }),
      message("e6", "e5", {
        role: "user",
        content: [
          { type: "text", text: "See the screenshot" },
          { type: "image", data: PIXEL, mimeType: "image/png" },
        ],
      }),
      message("e7", "e6", reply([{ type: "text", text: "The quote is missing." }])),
      entry("compaction", "e8", "e7", {
        summary: "We fixed the parser so far.",
        firstKeptEntryId: "e6",
        tokensBefore: 1234,
      }),
      message("e9", "e8", { role: "bashExecution", command: "ls", output: "a b", exitCode: 0 }),
      entry("custom", "ea", "e9", { customType: "x", data: 1 }),
      entry("session_info", "eb", "ea", { name: "parser work" }),
      message("ec", "eb", reply([call("p3", "write", { path: "out.txt" })], "aborted")),
    ],
    '{"type":"mess',
  );
}

export const OPENCODE_ID = "ses_5f1c2d3e4f50";

/** The database stays open, so that its newest rows are only in the log. */
export function writeOpencode({ home, project }: ForeignPlace): { path: string; database: Database } {
  const path = join(home, ".local", "share", "opencode", "opencode.db");
  mkdirSync(dirname(path), { recursive: true });
  const database = new Database(path, { create: true });
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA wal_autocheckpoint = 0");
  database.run(
    "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, agent TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER)",
  );
  database.run("CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)");
  database.run("CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)");
  database.run("CREATE TABLE account (id TEXT, secret TEXT)");
  database.run("INSERT INTO account VALUES ('a', 'sk-do-not-read')");
  database.run("INSERT INTO session VALUES (?, 'p', NULL, ?, 'parser work', '1.18.33', 'build', ?, ?, ?)", [
    OPENCODE_ID,
    project,
    JSON.stringify({ messageID: "msg_8" }),
    MS(0),
    MS(30),
  ]);
  let part = 0;
  const message = (id: string, data: object, parts: object[]) => {
    const info = { time: { created: MS(part) }, ...data };
    database.run("INSERT INTO message VALUES (?, ?, ?)", [id, OPENCODE_ID, JSON.stringify(info)]);
    for (const each of parts) {
      const partId = `prt_${String(part++).padStart(3, "0")}`;
      database.run("INSERT INTO part VALUES (?, ?, ?, ?)", [partId, id, OPENCODE_ID, JSON.stringify(each)]);
    }
  };
  const reply = {
    role: "assistant",
    modelID: "claude-opus-5",
    providerID: "anthropic",
    tokens: { input: 10, output: 20, reasoning: 5, cache: { read: 30, write: 40 } },
  };
  const tool = (callID: string, name: string, state: object) => ({ type: "tool", callID, tool: name, state });
  message("msg_1", { role: "user" }, [
    { type: "text", text: "Why does the parser fail?" },
    { type: "text", text: "Called the Read tool", synthetic: true },
  ]);
  message("msg_2", reply, [
    { type: "step-start" },
    { type: "reasoning", text: "Look first.", metadata: { anthropic: { signature: "sig" } } },
    tool("o1", "read", {
      status: "completed",
      input: { filePath: "src/parser.ts" },
      output: "export const parser = 1;",
    }),
    tool("o2", "bash", { status: "error", input: { command: "bun test parser" }, error: "1 fail" }),
    { type: "step-finish" },
  ]);
  message("msg_3", { role: "user" }, [
    { type: "text", text: "See the screenshot" },
    { type: "file", mime: "image/png", url: `data:image/png;base64,${PIXEL}` },
  ]);
  message("msg_4", reply, [{ type: "text", text: "The quote is missing." }]);
  message("msg_5", { role: "user" }, [{ type: "compaction", auto: true, tail_start_id: "msg_3" }]);
  message("msg_6", { ...reply, summary: true }, [{ type: "text", text: "We fixed the parser so far." }]);
  message("msg_7", reply, [tool("o3", "write", { status: "running", input: { filePath: "out.txt" } })]);
  message("msg_8", { role: "user" }, [{ type: "text", text: "An undone question" }]);
  return { path, database };
}

export const GEMINI_ID = "9d8c7b6a-1111-2222-3333-444455556666";

export function writeGemini({ home, project }: ForeignPlace): string {
  const folder = join(home, ".gemini", "tmp", "parser");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, ".project_root"), project);
  const name = `session-2026-05-01T10-00-${GEMINI_ID.slice(0, 8)}.jsonl`;
  let second = 0;
  const message = (id: string, type: string, content: unknown, rest: object = {}) => ({
    id,
    timestamp: TIME(second++),
    type,
    content,
    ...rest,
  });
  const tokens = { input: 100, output: 20, cached: 60, thoughts: 5, tool: 0, total: 125 };
  const response = (value: object) => [{ functionResponse: { id: "x", name: "x", response: value } }];
  const calls = [
    { id: "g1", name: "read_file", args: { file_path: "src/parser.ts" }, status: "executing" },
    { id: "g2", name: "run_shell_command", args: { command: "bun test parser" }, status: "executing" },
  ];
  const finished = [
    { ...calls[0], status: "success", result: response({ output: "export const parser = 1;" }) },
    { ...calls[1], status: "error", result: response({ error: "1 fail" }) },
  ];
  const thoughts = [{ subject: "Look", description: "first" }];
  const reply = { model: "gemini-3-pro", tokens, thoughts };
  const header = {
    sessionId: GEMINI_ID,
    projectHash: "h",
    startTime: TIME(0),
    lastUpdated: TIME(0),
    kind: "main",
  };
  // Resuming leaves a second file with only the context in it.
  writeLines(join(folder, "chats", `session-2026-05-02T10-00-${GEMINI_ID.slice(0, 8)}.jsonl`), [
    header,
    message("z1", "user", [{ text: "<session_context>again</session_context>" }]),
  ]);
  return writeLines(
    join(folder, "chats", name),
    [
      header,
      message("z1", "user", [{ text: "<session_context>today is Friday</session_context>" }]),
      message("z2", "user", [{ text: "Why does the parser fail?" }]),
      message("z3", "gemini", "", { ...reply, toolCalls: calls }),
      message("z4", "user", [
        { functionResponse: { id: "g1", response: { output: "export const parser = 1;" } } },
      ]),
      message("z3", "gemini", "", { ...reply, toolCalls: finished }),
      message("z5", "user", [{ text: "A question taken back" }]),
      { $rewindTo: "z5" },
      message("z6", "user", [
        { text: "See the screenshot" },
        { inlineData: { mimeType: "image/png", data: PIXEL } },
      ]),
      message("z7", "gemini", "The quote is missing.", reply),
      message("z8", "info", "Update available"),
      { $set: { lastUpdated: TIME(50) } },
      message("z9", "gemini", "", {
        ...reply,
        toolCalls: [{ id: "g3", name: "write_file", args: {}, status: "executing" }],
      }),
    ],
    '{"id":"za","ty',
  );
}
