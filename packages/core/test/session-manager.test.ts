import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../src/agent/types.ts";
import { ensureDiligentDir, resolvePaths } from "../src/infrastructure/diligent-dir.ts";
import { createScriptedStream, scriptedModel } from "../src/provider/scripted.ts";
import type { Script } from "../src/provider/scripted-schema.ts";
import { SessionManager } from "../src/session/manager.ts";
import type { SessionMessageEntry } from "../src/session/types.ts";
import { noteTool, type TurnScript, user } from "./support/agent-run.ts";
import { makeTempDir } from "./support/temp-dir.ts";

async function createSession(turns: TurnScript[], options: { save?: boolean } = {}) {
  const project = makeTempDir();
  const script: Script = { version: 1, turns };
  const paths = await ensureDiligentDir(project);
  const session = new SessionManager({
    cwd: project,
    paths: options.save === false ? undefined : paths,
    agentConfig: {
      model: scriptedModel("test.json", script),
      systemPrompt: "Test.",
      tools: [noteTool()],
      streamFunction: createScriptedStream(script),
    },
  });
  const file = join(paths.sessions, `${session.sessionId}.jsonl`);
  const lines = () =>
    readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { session, file, lines, paths };
}

describe("a session file", () => {
  test("holds a header and a chain of messages, mode 0600", async () => {
    const { session, lines, file } = await createSession([
      { toolCalls: [{ name: "note", input: { text: "a" } }] },
      { text: "Done." },
    ]);
    await session.run(user("go")).result();
    session.close();
    const [header, ...entries] = lines();
    expect(header).toEqual({
      type: "session",
      version: 2,
      id: session.sessionId,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      cwd: expect.any(String),
    });
    expect(entries.map((entry: SessionMessageEntry) => entry.message.role)).toEqual([
      "user",
      "assistant",
      "tool_result",
      "assistant",
    ]);
    expect(entries.map(({ parentId }) => parentId)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ id }) => id),
    ]);
    expect(entries.every(({ id }) => /^[0-9a-f]{8}$/.test(id))).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("does not exist before the first answer, and has each message before the event that shows it", async () => {
    const { session, file, lines } = await createSession([
      { toolCalls: [{ name: "note", input: { text: "a" } }] },
      { text: "Done." },
    ]);
    const counts: [string, number][] = [];
    await session.run(user("go")).consume((event: AgentEvent) => {
      if (event.type === "turn_start" || event.type === "message_end" || event.type === "tool_end") {
        counts.push([event.type, existsSync(file) ? lines().length : 0]);
      }
    });
    expect(counts).toEqual([
      ["turn_start", 0],
      ["message_end", 3],
      ["tool_end", 4],
      ["turn_start", 4],
      ["message_end", 5],
    ]);
  });

  test("a prompt without an answer is written by flush and by the end of a failed run", async () => {
    const { session, lines } = await createSession([{ delayMs: 60_000, text: "late" }]);
    const abort = new AbortController();
    const run = session.run(user("go"), { signal: abort.signal });
    session.flush();
    expect(lines()).toHaveLength(2);
    abort.abort();
    await run.result();
    expect(lines()).toHaveLength(2);
  });

  test("without paths nothing is written", async () => {
    const { session, paths } = await createSession([{ text: "Done." }], { save: false });
    await session.run(user("go")).result();
    session.close();
    expect(readdirSync(paths.sessions)).toEqual([]);
    expect(session.sessionPath).toBeUndefined();
  });

  test("when it cannot be written this is said once, the run goes on, and later everything is there", async () => {
    const { session, lines, paths } = await createSession([
      { toolCalls: [{ name: "note", input: { text: "a" } }] },
      { text: "Done." },
      { text: "Again." },
    ]);
    rmSync(resolvePaths(paths.root).root, { recursive: true, force: true });
    rmSync(paths.sessions, { recursive: true });
    const notices: string[] = [];
    await session.run(user("go")).consume((event) => {
      if (event.type === "notice") notices.push(event.code);
    });
    expect(notices).toEqual(["not_saved"]);
    mkdirSync(paths.sessions);
    await session.run(user("again")).result();
    expect(lines().map(({ type }) => type)).toEqual([
      "session",
      ...Array.from({ length: 6 }, () => "message"),
    ]);
  });
});

describe("a session", () => {
  test("the second prompt is sent with the first and its answer", async () => {
    const { session } = await createSession([{ text: "One." }, { text: "Two." }]);
    await session.run(user("first")).result();
    const added = await session.run(user("second")).result();
    expect(added).toMatchObject([{ content: [{ type: "text", text: "Two." }] }]);
  });

  test("a second run while one is going on is refused", async () => {
    const { session } = await createSession([{ text: "One." }]);
    const run = session.run(user("first"));
    expect(() => session.run(user("second"))).toThrow("busy");
    await run.result();
  });

  test("what is steered in joins the conversation and the file", async () => {
    const { session, lines } = await createSession([
      { toolCalls: [{ name: "note", input: { text: "a" } }] },
      { text: "Done." },
    ]);
    await session.run(user("go")).consume((event) => {
      if (event.type === "tool_start") session.steer("rather b");
    });
    const roles = lines()
      .slice(1)
      .map(({ message }) => message.role);
    expect(roles).toEqual(["user", "assistant", "tool_result", "user", "assistant"]);
  });
});
