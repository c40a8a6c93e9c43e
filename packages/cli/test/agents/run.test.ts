import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => place.remove());

const TASK = { name: "task", input: { description: "Find a.txt", prompt: "Find it.", agent: "explore" } };
const USAGE = { inputTokens: 1_000, outputTokens: 100 };
const price = { inputCostPer1M: 1, outputCostPer1M: 10 };
const TURNS = [
  { toolCalls: [TASK], usage: USAGE },
  { toolCalls: [{ name: "glob", input: { pattern: "*.txt" } }], usage: USAGE },
  { text: "It is a.txt.", usage: USAGE },
  { text: "Found.", usage: USAGE },
];

function play(turns: readonly object[], ...args: string[]) {
  const script = place.write("../script.json", { version: 1, price, turns });
  return runDiligent(place, ["-m", `scripted/${script}`, ...args]);
}

describe("a run with a sub-agent", () => {
  test("prints the sub-agent's events with its id and call, and a result that counts its turns and cost", async () => {
    place.write("a.txt", "a\n");
    const { stdout, exitCode } = await play(TURNS, "-p", "go", "--output-format", "stream-json");

    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const own = lines.filter(({ type }) => type === "agent_event");
    const ids = readdirSync(join(place.project, ".diligent", "sessions")).map((name) =>
      name.replace(".jsonl", ""),
    );
    expect(exitCode).toBe(0);
    expect(new Set(own.map(({ agentId }) => agentId)).size).toBe(1);
    expect(ids).toContain(own[0]?.agentId);
    expect(own.every(({ parentToolCallId }) => parentToolCallId === "call_1")).toBe(true);
    expect(own.filter(({ event }) => event.type === "message_delta" && "message" in event)).toEqual([]);
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      result: "Found.",
      turns: 4,
      cost: 4 * (0.001 + 0.001),
      usage: { inputTokens: 4_000, outputTokens: 400 },
    });
  });

  test("shows its calls below that of the conversation in text mode, and only the answer on stdout", async () => {
    const { stdout, stderr } = await play(TURNS, "-p", "go");

    expect(stdout).toBe("Found.\n");
    expect(stderr).toContain("task: Find a.txt\n  explore> glob: *.txt\n");
  });

  test("is listed and continued as one session", async () => {
    await play(TURNS, "-p", "go");
    const list = await runDiligent(place, ["--list"]);
    const json = JSON.parse((await runDiligent(place, ["--list", "--json"])).stdout);

    expect(list.stdout).toMatch(/^Sessions:\n {2}1\. \[.*\] go \(4 messages\)\n$/);
    expect(json).toHaveLength(1);
  });

  test("ends with exit code 4 when a call of the sub-agent lacked an approval", async () => {
    const bash = { toolCalls: [{ name: "bash", input: { command: "touch x" } }] };
    const general = { ...TASK, input: { ...TASK.input, agent: "general" } };
    const turns = [{ toolCalls: [general] }, bash, { text: "I may not." }, { text: "It may not." }];
    const { stdout, stderr, exitCode } = await play(turns, "-p", "go");

    expect([stdout, exitCode]).toEqual(["It may not.\n", 4]);
    expect(stderr).toContain("touch x needed an approval");
  });
});

describe("diligent agents", () => {
  test("lists built-in, own and waiting sub-agents, and files that define none", async () => {
    place.write(".claude/agents/local.md", "---\nname: local\ndescription: Works: here.\n---\nWork.");
    place.write(".claude/agents/none.md", "No frontmatter.");
    const { stdout, exitCode } = await runDiligent(place, ["agents", "list"]);

    expect(exitCode).toBe(0);
    expect(stdout).toContain("explore built-in\n");
    expect(stdout).toContain(
      "local .claude/agents/local.md (not trusted, see diligent trust)\n    Works: here.\n",
    );
    expect(stdout).toContain("not loaded: .claude/agents/none.md: it has no description\n");
  });

  test("prints the same as JSON, and refuses another action with exit code 2", async () => {
    const { stdout } = await runDiligent(place, ["agents", "--json"]);
    const wrong = await runDiligent(place, ["agents", "start"]);

    expect(
      JSON.parse(stdout).map(({ name, state }: { name: string; state: string }) => [name, state]),
    ).toEqual([
      ["explore", "ready"],
      ["general", "ready"],
      ["reviewer", "ready"],
    ]);
    expect(wrong.exitCode).toBe(2);
  });
});
