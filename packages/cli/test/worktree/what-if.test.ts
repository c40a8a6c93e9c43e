import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startSseServer } from "../../../core/test/support/sse-server.ts";
import { runDiligent, startDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, environmentFor, wholeReply } from "../support/vendor-service.ts";

let place: TemporaryProject;
let entry: string;
let script: string;

const PRICE = { inputCostPer1M: 3, outputCostPer1M: 15 };
const USAGE = { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
const COST = 0.0045;

const run = (command: string) => ({ name: "bash", input: { command } });

beforeEach(async () => {
  place = createTemporaryProject({ sandbox: "off" });
  git("init", "--quiet");
  place.write("a.txt", "one\n");
  place.write("check.sh", "grep -q three a.txt\n");
  git("add", "a.txt", "check.sh");
  git("-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", "first");
  place.write("a.txt", "two\n");
  place.configure({ sandbox: "off", checks: [{ name: "check", command: "sh check.sh", kind: "tests" }] });
  script = writeScript("script.json", [
    { text: "Hello." },
    { text: "Changing.", toolCalls: [run("echo three >> a.txt; echo new > new.txt")] },
    { text: "Done.", usage: USAGE },
  ]);
  await say("hello");
  await say("-c", "--", "improve a.txt");
  const shown = await runDiligent(place, ["sessions", "show", "1", "--entries"]);
  entry = /([0-9a-f]{8}) user +improve a.txt/.exec(shown.stdout)?.[1] ?? "none";
});

afterEach(() => place.remove());

function git(...args: string[]): string {
  const { stdout, exitCode } = Bun.spawnSync(["git", ...args], { cwd: place.project });
  expect([args, exitCode]).toEqual([args, 0]);
  return stdout.toString();
}

function writeScript(name: string, turns: object[]): string {
  const path = join(place.top, name);
  writeFileSync(path, JSON.stringify({ version: 1, price: PRICE, turns }));
  return `scripted/${path}`;
}

const say = (...args: string[]) => runDiligent(place, ["-p", "-m", script, "--approval", "auto", ...args]);

const whatIf = (...args: string[]) => runDiligent(place, ["what-if", `1@${entry}`, ...args]);

function expectNothingLeft(): void {
  expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
  expect(git("branch").trim().split("\n")).toHaveLength(1);
  const worktrees = join(place.project, ".diligent", "worktrees");
  expect(existsSync(worktrees) ? readdirSync(worktrees).filter((name) => name !== ".gitignore") : []).toEqual(
    [],
  );
}

describe("diligent what-if", () => {
  test("runs each variant on the files as they were at the entry, and compares the outcomes", async () => {
    const good = writeScript("good.json", [
      { text: "Hello." },
      { text: "Looking.", toolCalls: [run("cat a.txt; ls; echo three >> a.txt")], usage: USAGE },
      { text: "Checking.", toolCalls: [run("sh check.sh")], usage: USAGE },
      { text: "Done.", usage: USAGE },
    ]);
    const lazy = writeScript("lazy.json", [{ text: "Hello." }, { text: "No.", usage: USAGE }]);
    const { stdout, stderr, exitCode } = await whatIf(
      "--model",
      good,
      "--model",
      lazy,
      "--runs",
      "2",
      "--json",
    );
    expect([exitCode, stderr.split("\n").filter((line) => line.startsWith("Run "))]).toEqual([
      0,
      [expect.any(String), expect.any(String), expect.any(String), expect.any(String)],
    ]);
    const runs = JSON.parse(stdout);
    expect(runs.map(({ variant, run }: { variant: object; run: number }) => [variant, run])).toEqual([
      [{ kind: "model", value: good }, 1],
      [{ kind: "model", value: good }, 2],
      [{ kind: "model", value: lazy }, 1],
      [{ kind: "model", value: lazy }, 2],
    ]);
    expect(runs[0]).toMatchObject({
      ...{ stopReason: "end_turn", turns: 3, cost: 3 * COST },
      checks: [{ name: "check", exitCode: 0 }],
      diff: { files: 1, added: 1, removed: 0 },
    });
    expect(runs[3]).toMatchObject({ turns: 1, checks: [], diff: { files: 0, added: 0, removed: 0 } });
    const session = join(place.project, ".diligent", "sessions", `${runs[0].sessionId}.jsonl`);
    // Uncommitted changes are there, and what the session did after the entry is not.
    expect(readFileSync(session, "utf8")).toMatch(/"output":"two\\na\.txt\\ncheck\.sh(?!\\nnew)/);
    expect(readFileSync(join(place.project, "a.txt"), "utf8")).toBe("two\nthree\n");
    expectNothingLeft();
  });

  test("keeps the outcome of runs when a later one cannot begin", async () => {
    const good = writeScript("good.json", [{ text: "Hello." }, { text: "Done.", usage: USAGE }]);
    const { stdout, stderr, exitCode } = await whatIf(
      ...["--model", good, "--model", "claude-sonnet-4-5", "--json"],
    );
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("failed: No API key")]);
    expect(JSON.parse(stdout)).toMatchObject([
      { stopReason: "end_turn", cost: COST },
      { sessionId: "", stopReason: "error", error: expect.stringContaining("No API key"), turns: 0 },
    ]);
    expectNothingLeft();
  });

  test("asks the first prompt of the model that answered it, unless a variant names another", async () => {
    const shown = await runDiligent(place, ["sessions", "show", "1", "--entries"]);
    const first = /([0-9a-f]{8}) user +hello/.exec(shown.stdout)?.[1] ?? "none";
    const other = writeScript("other.json", [{ text: "Other." }]);
    const { stdout, exitCode } = await runDiligent(
      place,
      ["what-if", `1@${first}`, "--effort", "low", "--json"],
      { environment: { DILIGENT_MODEL: other } },
    );
    expect(exitCode).toBe(0);
    const [{ sessionId }] = JSON.parse(stdout);
    const session = join(place.project, ".diligent", "sessions", `${sessionId}.jsonl`);
    const text = readFileSync(session, "utf8");
    expect([text.includes("Hello."), text.includes("Other.")]).toEqual([true, false]);
  });

  test("asks what a file says, and with another thinking level, over the wire", async () => {
    writeFileSync(join(place.project, "other.md"), "Explain it instead.\n");
    const say = (text: string) => wholeReply(ANTHROPIC_SERVICE, { text });
    await using server = await startSseServer(say("First."), say("Second."));
    const environment = environmentFor(ANTHROPIC_SERVICE, server.url);
    const args = ["what-if", `1@${entry}`, "--prompt-file", "other.md", "--effort", "low", "--html"];
    const { stdout, exitCode } = await runDiligent(place, args, { environment: { ...environment } });
    expect([
      exitCode,
      stdout.includes("<td>prompt other.md</td>"),
      stdout.includes("<td>effort low</td>"),
    ]).toEqual([...[0, true, true]]);
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    expect(
      bodies.map((body) => [body.includes("Explain it instead."), body.includes("improve a.txt")]),
    ).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(bodies.map((body) => body.includes('"effort":"low"'))).toEqual([false, true]);
    expectNothingLeft();
  });

  test("keeps the worktrees if asked, and stops at the cost of all runs together", async () => {
    const model = writeScript("cheap.json", [
      { text: "Hello." },
      { text: "Adding.", toolCalls: [run("echo more >> a.txt")], usage: USAGE },
      { text: "Done.", usage: USAGE },
    ]);
    const limit = String(COST * 3);
    const { stdout, stderr, exitCode } = await whatIf(
      ...["--model", model, "--runs", "4", "--max-cost", limit, "--keep", "--json"],
    );
    const runs = JSON.parse(stdout);
    expect([exitCode, runs.length]).toEqual([3, 2]);
    expect(stderr).toContain("2 of 4 runs have ended.");
    expect(readFileSync(join(runs[0].worktree, "a.txt"), "utf8")).toBe("two\nmore\n");
  });

  test("Ctrl+C ends the run, shows what there is and leaves nothing behind", async () => {
    const slow = writeScript("slow.json", [
      { text: "Hello." },
      { text: "Waiting.", toolCalls: [run("touch begun; sleep 60")] },
      { text: "Done." },
    ]);
    const running = startDiligent(place, ["what-if", `1@${entry}`, "--model", slow, "--runs", "3"]);
    await running.shown("Run 1 of");
    const worktrees = join(place.project, ".diligent", "worktrees");
    const hasBegun = () => readdirSync(worktrees).some((name) => existsSync(join(worktrees, name, "begun")));
    while (!hasBegun()) await Bun.sleep(20);
    running.process.kill("SIGINT");
    const { stdout, stderr, exitCode } = await running.ended;
    expect([exitCode, stderr.includes("1 of 3 runs have ended.")]).toEqual([130, true]);
    expect(stdout).toMatch(/^variant +run +end .*\nmodel .* 1 +aborted /);
    expectNothingLeft();
  });

  test("says so where the earlier state is not recorded, and begins with the last commit", async () => {
    rmSync(join(place.home, ".local", "state", "diligent", "checkpoints"), { recursive: true });
    const model = writeScript("look.json", [
      { text: "Hello." },
      { text: "Looking.", toolCalls: [run("cat a.txt")] },
      { text: "Done." },
    ]);
    const { stdout, stderr, exitCode } = await whatIf("--model", model, "--json");
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining("is not recorded: the run begins with the last commit"),
    ]);
    const [{ sessionId }] = JSON.parse(stdout);
    const session = join(place.project, ".diligent", "sessions", `${sessionId}.jsonl`);
    expect(readFileSync(session, "utf8")).toContain('"output":"one"');
  });

  test("sends nothing and leaves nothing behind for what cannot be run", async () => {
    for (const args of [
      [],
      ["--effort", "enormous"],
      ["--model", "scripted/none.json"],
      ["--prompt-file", "none.md"],
      ["--model", script, "--runs", "0"],
      ["--model", script, "--max-cost", "much"],
    ]) {
      const { stdout, exitCode } = await whatIf(...args);
      expect([args, stdout, exitCode]).toEqual([args, "", 2]);
    }
    for (const reference of ["1", "1@ffffffff", "nobody@ffffffff"]) {
      const { exitCode } = await runDiligent(place, ["what-if", reference, "--model", script]);
      expect([reference, exitCode]).toEqual([reference, 2]);
    }
    expectNothingLeft();
  });
});
