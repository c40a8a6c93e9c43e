import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareEnvironment, PROGRAM_BY_PATH } from "../../cli/test/support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../../cli/test/support/temporary-project.ts";
import { findTrajectoryProblems } from "../../cli/test/support/trajectory-check.ts";

const PYTHON = ["python3", "python3.11", "python3.12"]
  .map((name) => Bun.which(name))
  .find((path) => path !== null);
if (!PYTHON) console.warn("Skipped: the tests of the adapter for Harbor, because there is no python3.");

interface Seen {
  name: string;
  version: string;
  error: string | null;
  commands: { command: string; env: Record<string, string>; user: string | null }[];
  context: Record<string, number | null>;
}

let place: TemporaryProject;
let logs: string;

beforeEach(() => {
  place = createTemporaryProject();
  logs = join(place.top, "logs");
  mkdirSync(logs);
});

afterEach(() => place.remove());

/** A file that starts the program, in place of the built executable. */
function writeExecutable(): string {
  const words = PROGRAM_BY_PATH.map((word) => `'${word}'`).join(" ");
  const path = join(place.top, "release-file");
  writeFileSync(path, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o644 });
  return path;
}

async function run(
  turns: readonly object[],
  {
    instruction = "Write hello.txt.",
    args = {},
    more = {},
  }: { instruction?: string; args?: object; more?: object } = {},
): Promise<Seen> {
  const script = place.write("../script.json", {
    version: 1,
    price: { inputCostPer1M: 1, outputCostPer1M: 10 },
    turns,
  });
  const given = {
    ...{ logs, workdir: place.project, instruction },
    arguments: {
      executable: writeExecutable(),
      install_dir: join(place.top, "container", "bin"),
      model_name: `scripted/${script}`,
      ...args,
    },
    ...more,
  };
  const child = Bun.spawn([PYTHON ?? "", join(import.meta.dir, "run_agent.py"), JSON.stringify(given)], {
    env: {
      ...bareEnvironment(place),
      STAND_IN_LOGS: logs,
      PYTHONDONTWRITEBYTECODE: "1",
      ANTHROPIC_API_KEY: "key-a",
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect([await child.exited, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

const USAGE = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 50 };
const TURNS = [
  { toolCalls: [{ name: "bash", input: { command: "echo hello > hello.txt" } }], usage: USAGE },
  { text: "Written.", usage: USAGE },
];

describe.skipIf(!PYTHON)("DiligentAgent", () => {
  test("installs the file, runs it without questions, and reports trajectory, tokens and cost", async () => {
    const seen = await run(TURNS, { args: { max_turns: 5, max_cost: "0.5" } });
    expect([seen.name, seen.error]).toEqual(["diligent", null]);
    expect(seen.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(readFileSync(join(place.project, "hello.txt"), "utf8")).toBe("hello\n");
    expect(seen.context).toEqual({
      n_input_tokens: 2_100,
      n_cache_tokens: 100,
      n_output_tokens: 200,
      cost_usd: expect.closeTo(0.0041, 6),
    });
    const trajectory = JSON.parse(readFileSync(join(logs, "trajectory.json"), "utf8"));
    expect(findTrajectoryProblems(trajectory)).toEqual([]);
    expect(trajectory.steps.at(-1).message).toBe("Written.");
    const command = seen.commands.find((each) => each.command.includes(" -p "))?.command;
    expect(command).toContain("--approval auto");
    expect(command).toContain("--max-cost 0.5 --max-turns 5 -- 'Write hello.txt.'");
  });

  test("passes an instruction as one word, whatever it contains, and names no key in a command", async () => {
    const instruction = `--help $(touch injected) "it's" \`touch injected\`\n; touch injected`;
    const seen = await run([{ text: "ok" }], { instruction });
    expect([seen.error, existsSync(join(place.project, "injected"))]).toEqual([null, false]);
    const { steps } = JSON.parse(readFileSync(join(logs, "trajectory.json"), "utf8"));
    expect(steps[0].message).toBe(instruction);
    expect(seen.commands.filter(({ command }) => command.includes("key-a"))).toEqual([]);
    expect(seen.commands.find(({ command }) => command.includes(" -p "))?.env).toEqual({
      ANTHROPIC_API_KEY: "key-a",
    });
  });

  test("counts a run that a limit has stopped as done, and a failed one as failed, with its trajectory", async () => {
    const limited = await run([...TURNS, ...TURNS], { args: { max_turns: 1 } });
    expect(limited.error).toBeNull();
    expect(limited.context.n_output_tokens).toBe(100);
    const failed = await run([{ error: { errorType: "auth", message: "the key is wrong" } }]);
    expect(failed.error).toStartWith("NonZeroAgentExitCodeError: exit 1");
    expect(failed.error).toContain('"errorType":"auth"');
    expect(existsSync(join(logs, "trajectory.json"))).toBe(true);
  });

  test("refuses a missing executable and one with another checksum", async () => {
    const missing = await run(TURNS, { args: { executable: "/nowhere/diligent" } });
    expect(missing.error).toStartWith("FileNotFoundError");
    const sha256 = createHash("sha256").update(readFileSync(writeExecutable())).digest("hex");
    expect((await run(TURNS, { args: { sha256: sha256.toUpperCase() } })).error).toBeNull();
    expect((await run(TURNS, { args: { sha256: "0".repeat(64) } })).error).toContain("checksum");
  });

  test("makes Harbor's servers and skills those of the user in the container", async () => {
    const skills = join(place.top, "skills");
    mkdirSync(join(skills, "greet"), { recursive: true });
    writeFileSync(
      join(skills, "greet", "SKILL.md"),
      "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n",
    );
    const mcp_servers = [
      { name: "files", transport: "stdio", command: "files-server", args: ["--all"], url: null },
      { name: "web", transport: "streamable-http", command: null, args: [], url: "http://127.0.0.1:1/mcp" },
    ];
    const { error } = await run([{ text: "ok" }], { args: { skills_dir: skills }, more: { mcp_servers } });
    expect(error).toBeNull();
    const settings = readFileSync(join(place.home, ".config/diligent/diligent.jsonc"), "utf8");
    expect(JSON.parse(settings).mcpServers).toEqual({
      files: { command: "files-server", args: ["--all"] },
      web: { type: "http", url: "http://127.0.0.1:1/mcp" },
    });
    expect(existsSync(join(place.home, ".agents/skills/greet/SKILL.md"))).toBe(true);
  });
});
