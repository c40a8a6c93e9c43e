import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findLeafId, pathTo, type SessionHeader, type Usage } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { makeTempDir } from "../../core/test/support/temp-dir.ts";
import {
  type Trajectory,
  type TrajectorySession,
  type TrajectorySources,
  toTrajectory,
} from "../src/export/trajectory.ts";
import { startInPty } from "./support/pty-program.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { writeSession } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";
import { findTrajectoryProblems } from "./support/trajectory-check.ts";

const USAGE: Usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 30, cacheWriteTokens: 20 };
const HEADER: SessionHeader = {
  type: "session",
  version: 2,
  id: "20260101000000-aaaaaa",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/x",
};
const PIXEL = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "iVBORw0=" },
} as const;

/** Entries beside the conversation: no other entry follows them. */
const BESIDE = ["task_link", "settings", "request"];

interface SessionOptions {
  header?: SessionHeader;
  /** The time of the first entry, in milliseconds; each is a second after the one before. */
  from?: number;
}

/** The session in a file with these entries, one after the other. */
function readBack(
  contents: readonly ({ type: string } & Record<string, unknown>)[],
  { header = HEADER, from = Date.parse(HEADER.timestamp) }: SessionOptions = {},
): TrajectorySession {
  let parentId: string | null = null;
  const entries = contents.map((content, index) => {
    const id = toId(index + 1);
    const entry = { id, parentId, timestamp: new Date(from + index * 1_000).toISOString(), ...content };
    if (!BESIDE.includes(content.type)) parentId = id;
    return entry;
  });
  const file = join(makeTempDir(), `${header.id}.jsonl`);
  writeFileSync(file, [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(""));
  const read = readSessionFile(file);
  expect(read.skippedLines).toBe(0);
  return { header: read.header, entries: read.entries, path: pathTo(read.entries, findLeafId(read.entries)) };
}

const toId = (number: number) => number.toString(16).padStart(8, "0");

const user = (content: unknown) => ({ type: "message", message: { role: "user", content, timestamp: 0 } });

function reply(
  text: string,
  calls: readonly (readonly [id: string, name: string])[] = [],
  more: readonly object[] = [],
) {
  const blocks = calls.map(([id, name]) => ({ type: "tool_call", id, name, input: {} }));
  const message = {
    role: "assistant",
    content: [...more, { type: "text", text }, ...blocks],
    model: "claude-opus-5",
    usage: USAGE,
    stopReason: calls.length > 0 ? "tool_use" : "end_turn",
    timestamp: 0,
  };
  return { type: "message", message };
}

function result(toolCallId: string, output: string, more: object = {}) {
  const message = { role: "tool_result", toolCallId, toolName: "read", output, isError: false, timestamp: 0 };
  return { type: "message", message: { ...message, ...more } };
}

/** As a reader of the document sees it. */
function convert(session: TrajectorySession, sources: Partial<TrajectorySources> = {}) {
  const costOf = ({ inputTokens }: Usage) => inputTokens / 1e6;
  const trajectory = toTrajectory(session, { costOf, readSubAgent: () => undefined, ...sources });
  expect(findTrajectoryProblems(JSON.parse(JSON.stringify(trajectory)))).toEqual([]);
  return trajectory;
}

describe("a trajectory", () => {
  test("has a step for each message, with the results of a reply's calls in the step of the reply", () => {
    const calls = [
      ["c1", "read"],
      ["c2", "read"],
    ] as const;
    const { steps, final_metrics } = convert(
      readBack([user("go"), reply("I look.", calls), result("c1", "A"), result("c2", "B"), reply("Done.")]),
    );
    expect(steps.map(({ source, message }) => [source, message])).toEqual([
      ["user", "go"],
      ["agent", "I look."],
      ["agent", "Done."],
    ]);
    expect(steps[1]?.observation?.results).toEqual([
      { source_call_id: "c1", content: "A", extra: { is_error: false } },
      { source_call_id: "c2", content: "B", extra: { is_error: false } },
    ]);
    expect(steps[1]?.metrics).toEqual({
      prompt_tokens: 150,
      completion_tokens: 10,
      cached_tokens: 30,
      cost_usd: 0.0001,
      extra: { cache_creation_input_tokens: 20 },
    });
    expect(final_metrics).toEqual({
      total_prompt_tokens: 300,
      total_completion_tokens: 20,
      total_cached_tokens: 60,
      total_cost_usd: 0.0002,
      total_steps: 3,
      extra: { cache_creation_input_tokens: 40 },
    });
  });

  test("keeps what a summary replaced, and says from which step on the context was kept", () => {
    const tokens = { tokensBefore: 900, tokensAfter: 100 };
    const summary = { type: "compaction", summary: "They greeted.", firstKeptEntryId: toId(3), ...tokens };
    const { steps } = convert(
      readBack([user("hello"), reply("Hi."), user("go"), reply("Done."), summary, user("more")]),
    );
    expect(steps).toHaveLength(6);
    expect(steps[4]).toMatchObject({
      source: "system",
      observation: { results: [{ content: "They greeted." }] },
      extra: {
        context_management: {
          type: "compaction",
          boundary: "truncate",
          first_kept_step_id: 3,
          tokens_before: 900,
        },
      },
    });
  });

  test("names the steps whose results were shortened", () => {
    const prune = { type: "prune", cleared: [toId(3)], trimmed: [] };
    const { steps } = convert(
      readBack([user("go"), reply("", [["c1", "read"]]), result("c1", "A"), prune, reply("Done.")]),
    );
    expect(steps[2]?.extra).toEqual({
      context_management: {
        type: "pruning",
        boundary: "truncate",
        cleared_step_ids: [2],
        trimmed_step_ids: [],
      },
    });
  });

  test("has images of prompts and results as data URLs", () => {
    const text = { type: "text", text: "see" };
    const { steps } = convert(
      readBack([
        user([text, PIXEL]),
        reply("", [["c1", "read"]]),
        result("c1", "a.png", { images: [PIXEL] }),
      ]),
    );
    const image = {
      type: "image",
      source: { media_type: "image/png", path: "data:image/png;base64,iVBORw0=" },
    };
    const shown: unknown[] = [steps[0]?.message, steps[1]?.observation?.results[0]?.content];
    expect(shown).toEqual([
      [text, image],
      [{ type: "text", text: "a.png" }, image],
    ]);
  });

  test("has thoughts, the thinking level and arguments that were not JSON in the step", () => {
    const thinking = { type: "thinking", thinking: "Which file?" };
    const call = { type: "tool_call", id: "c1", name: "read", input: {}, invalidInput: "{file_path:" };
    const { steps } = convert(
      readBack([user("go"), { type: "settings", effort: "high" }, reply("", [], [thinking, call])]),
    );
    expect(steps[1]).toMatchObject({
      reasoning_content: "Which file?",
      reasoning_effort: "high",
      tool_calls: [{ arguments: {}, extra: { invalid_arguments: "{file_path:" } }],
    });
  });

  test("marks what a fork copied from its parent", () => {
    const header = { ...HEADER, parentSession: "20251231000000-bbbbbb" };
    const from = Date.parse(HEADER.timestamp) - 1_500;
    const { steps } = convert(readBack([user("a"), reply("b"), user("c")], { header, from }));
    expect(steps.map(({ is_copied_context }) => is_copied_context)).toEqual([true, true, undefined]);
  });

  test("names the agent of an imported session", () => {
    const source = { agent: "codex", id: "1", path: "/p", size: 1, version: "0.9" };
    const { agent } = convert(readBack([user("a")], { header: { ...HEADER, source } }));
    expect(agent).toMatchObject({ name: "codex", version: "0.9" });
  });

  test("stays valid for a damaged file with equal ids and results without calls", () => {
    const calls = [
      ["c1", "read"],
      ["c1", "read"],
    ] as const;
    const session = readBack([
      result("lost", "?"),
      reply("", calls),
      ...["A", "B", "C"].map((text) => result("c1", text)),
    ]);
    const { steps, final_metrics } = convert(session, { costOf: () => null });
    expect(steps.map(({ observation }) => observation?.results.map(({ content }) => content))).toEqual([
      ["?"],
      ["A", "B"],
      ["C"],
    ]);
    expect(final_metrics.total_cost_usd).toBeUndefined();
  });

  test("embeds the sessions of sub-agents, adds their cost, and ends where sessions refer to each other", () => {
    const child = { ...HEADER, id: "20260101000000-cccccc", agent: "explore", parentSession: HEADER.id };
    const contents = (sessionId: string) => [
      user("go"),
      reply("", [["c1", "task"]]),
      { type: "task_link", toolCallId: "c1", sessionId, agent: "explore" },
      result("c1", "ok"),
    ];
    const sessions = new Map([[child.id, readBack(contents(HEADER.id), { header: child })]]);
    const { steps, subagent_trajectories, final_metrics } = convert(readBack(contents(child.id)), {
      costOf: () => 0.25,
      readSubAgent: (id) => sessions.get(id),
    });
    expect(steps[1]?.observation?.results[0]?.subagent_trajectory_ref).toEqual([
      { trajectory_id: child.id, session_id: child.id, extra: { agent: "explore" } },
    ]);
    expect(subagent_trajectories?.map(({ agent }) => agent.extra)).toEqual([{ sub_agent: "explore" }]);
    expect(final_metrics.total_cost_usd).toBe(0.5);
  });

  test("has the recorded costs, and those of requests for summaries in the sum only", () => {
    const request = { type: "request", provider: "anthropic", modelId: "claude-opus-5", parts: {} };
    const sent = { sent: HEADER.timestamp };
    const { steps, final_metrics } = convert(
      readBack([
        user("go"),
        { ...request, ...sent, usage: USAGE, cost: 0.5 },
        reply("Done."),
        { ...request, ...sent, purpose: "summary", usage: USAGE, cost: 0.25 },
      ]),
    );
    expect(steps[1]?.metrics?.cost_usd).toBe(0.5);
    expect(final_metrics).toMatchObject({
      total_prompt_tokens: 150,
      total_cost_usd: 0.75,
      extra: { requests_outside_conversation: 1, prompt_tokens_outside_conversation: 150 },
    });
  });

  test("needs a message", () => {
    expect(() => convert({ header: HEADER, entries: [], path: [] })).toThrow("has no messages to export");
  });
});

describe("findTrajectoryProblems", () => {
  const step = { step_id: 1, source: "user", message: "hi" };
  const document = { schema_version: "ATIF-v1.7", agent: { name: "a", version: "1" }, steps: [step] };
  test.each([
    [{ ...document, schema_version: "ATIF-v2.0" }],
    [{ ...document, steps: [] }],
    [{ ...document, unknown: 1 }],
    [{ ...document, steps: [{ ...step, step_id: 2 }] }],
    [{ ...document, steps: [{ ...step, model_name: "m" }] }],
    [{ ...document, steps: [{ ...step, timestamp: "soon" }] }],
    [{ ...document, steps: [{ ...step, observation: { results: [{ source_call_id: "c" }] } }] }],
    [{ ...document, steps: [{ ...step, message: [{ type: "image", text: "no source" }] }] }],
    [{ ...document, subagent_trajectories: [document] }],
  ])("finds a problem in %j", (broken) => {
    expect(findTrajectoryProblems(document)).toEqual([]);
    expect(findTrajectoryProblems(broken)).not.toEqual([]);
  });
});

describe("export --format atif", () => {
  let place: TemporaryProject;

  beforeEach(() => {
    place = createTemporaryProject({ sandbox: "off" });
  });

  afterEach(() => place.remove());

  const TASK = { name: "task", input: { description: "Find a.txt", prompt: "Find it.", agent: "explore" } };
  const TURNS = [
    { toolCalls: [TASK], usage: { inputTokens: 1_000, outputTokens: 100 } },
    { toolCalls: [{ name: "glob", input: { pattern: "*.txt" } }] },
    { text: "It is a.txt." },
    { text: "Found." },
  ];

  async function play(): Promise<void> {
    place.write("script.json", { version: 1, turns: TURNS });
    place.write("a.txt", "a\n");
    const { exitCode } = await runDiligent(place, ["-m", "scripted/script.json", "-p", "go"]);
    expect(exitCode).toBe(0);
  }

  test("writes a valid document with the sub-agent's session, and its extension selects the format", async () => {
    await play();
    const { stdout, exitCode, stderr } = await runDiligent(place, ["export", "-o", "run.atif.json"]);
    const path = join(place.project, "run.atif.json");
    expect([exitCode, stderr, stdout]).toEqual([0, "", `Exported to ${path}\n`]);
    const trajectory = JSON.parse(readFileSync(path, "utf8"));
    expect(findTrajectoryProblems(trajectory)).toEqual([]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(
      trajectory.steps.map(({ source, message }: Trajectory["steps"][number]) => [source, message]),
    ).toEqual([
      ["user", "go"],
      ["agent", ""],
      ["agent", "Found."],
    ]);
    const [child] = trajectory.subagent_trajectories;
    expect(child.steps.at(-1).message).toBe("It is a.txt.");
    expect(trajectory.steps[1].observation.results[0].subagent_trajectory_ref[0].trajectory_id).toBe(
      child.trajectory_id,
    );
    expect(trajectory.steps[1].metrics).toMatchObject({ prompt_tokens: 1_000, completion_tokens: 100 });
  });

  test("computes costs with the prices of the configuration, and leaves unknown ones out", async () => {
    const session = { modified: "2026-01-01T00:00:00.000Z", texts: ["a", "b"] };
    writeSession(place, { ...session, id: "20260101000000-aaaaaa", model: "gpt-own" });
    const read = async () => JSON.parse((await runDiligent(place, ["export", "--format", "atif"])).stdout);
    expect((await read()).final_metrics.total_cost_usd).toBeUndefined();
    place.configure({
      models: [{ id: "gpt-own", provider: "openai", inputCostPer1M: 2, outputCostPer1M: 4 }],
    });
    expect((await read()).final_metrics.total_cost_usd).toBe(0.000006);
  });

  test("works without the file of a sub-agent", async () => {
    await play();
    const directory = join(place.project, ".diligent", "sessions");
    const child = readdirSync(directory)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(directory, name))
      .find((path) => readFileSync(path, "utf8").split("\n", 1)[0]?.includes('"agent":"explore"'));
    await Bun.file(child ?? "").delete();
    const { stdout, exitCode } = await runDiligent(place, ["export", "--format", "atif"]);
    expect(exitCode).toBe(0);
    expect(findTrajectoryProblems(JSON.parse(stdout))).toEqual([]);
    expect(JSON.parse(stdout).subagent_trajectories).toBeUndefined();
  });

  test("/export atif writes the conversation on the screen to a file", async () => {
    await play();
    await using program = startInPty(place, ["--continue", "-m", "scripted/script.json"], { rows: 40 });
    await program.waitFor("ask ·");
    program.send("/export atif\r");
    // The screen may break the line after any word.
    await program.waitFor(".atif.json");
    const name = readdirSync(place.project).find((each) => each.endsWith(".atif.json"));
    const trajectory = JSON.parse(readFileSync(join(place.project, name ?? ""), "utf8"));
    expect(findTrajectoryProblems(trajectory)).toEqual([]);
    expect(trajectory.subagent_trajectories).toHaveLength(1);
  });
});
