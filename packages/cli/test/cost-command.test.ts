import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeClaudeCode } from "../../core/test/support/foreign-fixtures.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { sessionIds } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

const PRICE = { inputCostPer1M: 3, outputCostPer1M: 15, cacheReadCostPer1M: 0.3, cacheWriteCostPer1M: 3.75 };
const USAGE = { inputTokens: 100, outputTokens: 50, cacheReadTokens: 0, cacheWriteTokens: 9_000 };
const COST = 0.0348;

beforeEach(() => {
  place = createTemporaryProject();
  const turns = [
    { text: "Looking.", toolCalls: [{ name: "ls", input: {} }], usage: USAGE },
    { text: "Done.", usage: { ...USAGE, cacheReadTokens: 9_000, cacheWriteTokens: 0 } },
    { text: "Again.", usage: USAGE },
  ];
  place.write("script.json", { version: 1, price: PRICE, turns });
});

afterEach(() => place.remove());

async function runJson(...args: string[]) {
  const { stdout, stderr, exitCode } = await runDiligent(place, args);
  expect([stderr, exitCode]).toEqual(["", 0]);
  return JSON.parse(stdout);
}

const say = (...args: string[]) => runDiligent(place, ["-p", "-m", "scripted/script.json", ...args]);

describe("diligent cost", () => {
  test("prints what each request of the last session cost, by cause, and where the cache was lost", async () => {
    await say("look");
    await say("-c", "again");
    const { total, requests, breaks } = await runJson("cost", "--json");
    expect(requests).toHaveLength(3);
    expect(total).toBeCloseTo(COST + 0.00375 + COST, 9);
    expect(requests[0]).toMatchObject({
      ...{ model: "scripted/script.json", cached: 0, written: 9_000, fresh: 100, output: 50 },
      cost: COST,
    });
    for (const { parts, cached, written, fresh } of requests) {
      const sum = Object.values<number>(parts).reduce((all, tokens) => all + tokens, 0);
      expect(sum).toBe(cached + written + fresh);
      expect(parts).toMatchObject({ system: expect.any(Number), "tool:ls": expect.any(Number) });
    }
    expect(requests[1].parts).toMatchObject({ calls: expect.any(Number), "results:ls": expect.any(Number) });
    expect(breaks).toEqual([
      expect.objectContaining({ entryId: requests[2].entryId, why: "expiry", tokens: 9_000 }),
    ]);
    expect(breaks[0].cost).toBeCloseTo((9_000 * (3.75 - 0.3)) / 1_000_000, 6);
    expect(await runJson("cost", "1", "--format", "json")).toEqual({ total, requests, breaks });
  });

  test("draws bars for people, and refuses what it does not know", async () => {
    await say("look");
    const { stdout } = await runDiligent(place, ["cost"]);
    expect(stdout).toMatch(/system +[\d,]+ +\d+% +■+/);
    expect(stdout).toContain("Total: $0.0386");
    for (const args of [["nobody"], ["1", "2"], ["--format", "pdf"], ["--json", "--html"]])
      expect((await runDiligent(place, ["cost", ...args])).exitCode).toBe(2);
  });

  test("says what is known of sessions from before requests were kept", async () => {
    await say("look");
    const [id] = sessionIds(place);
    const path = join(place.project, ".diligent", "sessions", `${id}.jsonl`);
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, lines.filter((line) => !line.startsWith('{"type":"request"')).join("\n"));
    const { total, requests } = await runJson("cost", "--json");
    expect([total, requests.length]).toEqual([null, 2]);
    expect(requests[0]).toMatchObject({ parts: {}, written: 9_000, cost: null });
  });

  test("counts what a fork has copied only in the session that paid for it", async () => {
    await say("look");
    await say("--fork", "--", "again");
    const { requests } = await runJson("cost", "1", "--json");
    expect(requests).toHaveLength(1);
    const [row] = await runJson("usage", "--json");
    expect(row).toMatchObject({ sessions: 2, requests: 3 });
  });
});

describe("diligent usage", () => {
  test("knows the prices of tools that the configuration states", async () => {
    await say("look");
    const [id] = sessionIds(place);
    const path = join(place.project, ".diligent", "sessions", `${id}.jsonl`);
    // As a server of the user's own would have answered.
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("scripted/script.json", "local/own"));
    const readTool = async () => {
      const rows: { key: string; cost: number | null }[] = await runJson("usage", "--by", "tool", "--json");
      return rows.find(({ key }) => key === "ls")?.cost;
    };
    expect(await readTool()).toBeNull();
    const server = { baseUrl: "http://127.0.0.1:9/v1", models: ["own"] };
    const models = [{ id: "local/own", ...PRICE }];
    place.configure({ provider: { compatible: { local: server } }, models });
    expect(await readTool()).toBeGreaterThan(0);
  });

  test("adds up the sessions of all projects by day, project, model and tool", async () => {
    await say("look");
    const other = join(place.home, "other");
    mkdirSync(join(other, ".git"), { recursive: true });
    const script = { version: 1, price: PRICE, turns: [{ text: "Hi.", usage: USAGE }] };
    writeFileSync(join(other, "script.json"), JSON.stringify(script));
    await runDiligent(place, ["-C", other, "-p", "-m", "scripted/script.json", "hello"]);
    expect(readdirSync(join(other, ".diligent", "sessions")).length).toBeGreaterThan(0);
    const [day, ...older] = await runJson("usage", "--json");
    expect(older).toEqual([]);
    expect(day).toEqual({
      key: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      ...{ sessions: 2, requests: 3 },
      tokens: { input: 300, output: 150, cacheRead: 9_000, cacheWrite: 18_000 },
      cost: expect.closeTo(COST * 2 + 0.00375, 9),
    });
    const projects = await runJson("usage", "--by", "project", "--format", "json");
    expect(projects.map(({ key, requests }: { key: string; requests: number }) => [key, requests])).toEqual([
      [place.project, 2],
      [other, 1],
    ]);
    expect(await runJson("usage", "--by", "model", "--json")).toMatchObject([
      { key: "scripted/script.json", requests: 3 },
    ]);
    const tools = await runJson("usage", "--by", "tool", "--json");
    expect(tools).toContainEqual(expect.objectContaining({ key: "ls", requests: 3 }));
    expect(await runJson("usage", "--since", "2999-01-01", "--json")).toEqual([]);
  });

  test("counts a project that the input history has forgotten, without an index", async () => {
    await say("look");
    const history = join(place.home, ".local", "state", "diligent", "history.jsonl");
    const line = JSON.stringify({
      time: "2026-01-01T00:00:00Z",
      cwd: place.home,
      text: "x".repeat(2_200_000),
    });
    appendFileSync(history, `${line}\n${line}\n`);
    const other = join(place.home, "other");
    mkdirSync(join(other, ".git"), { recursive: true });
    writeFileSync(join(other, "script.json"), JSON.stringify({ version: 1, turns: [{ text: "Hi." }] }));
    await runDiligent(place, ["-C", other, "-p", "-m", "scripted/script.json", "hello"]);
    expect(readFileSync(history, "utf8")).not.toContain(place.project);
    const rows = await runJson("-C", other, "usage", "--by", "project", "--json");
    expect(rows.map(({ key }: { key: string }) => key)).toContain(place.project);
    const found = await runDiligent(place, ["-C", other, "sessions", "find", "--all", "look"]);
    expect(found.stdout).toContain(place.project);
  });

  test("counts what an imported session has cost here, and not what the other agent paid", async () => {
    writeClaudeCode(place);
    const [imported] = await runJson("import", "claude-code", "--json");
    expect(await runJson("usage", "--json")).toEqual([]);
    // The replies of the other agent count as turns of the script.
    const turns = Array(9).fill({ text: "Continued.", usage: USAGE });
    place.write("script.json", { version: 1, price: PRICE, turns });
    expect((await say("-c", imported.id, "--", "continue")).exitCode).toBe(0);
    const row = { sessions: 1, requests: 1, cost: COST };
    const rowsBy = (group: string) => runJson("usage", "--by", group, "--json");
    expect(await rowsBy("model")).toMatchObject([{ key: "scripted/script.json", ...row }]);
    expect(await rowsBy("project")).toMatchObject([{ key: place.project, ...row }]);
    expect(await rowsBy("day")).toMatchObject([row]);
  });

  test("draws bars for people, and refuses a bad date, group or argument", async () => {
    await say("look");
    const { stdout } = await runDiligent(place, ["usage"]);
    expect(stdout).toMatch(/\d{4}-\d\d-\d\d +1 +2 +[\d,]+ +100 +\$0\.0386 +■+/);
    for (const args of [
      ["--since", "yesterday"],
      ["--since", "2026-02-31x"],
      ["--since", "2026-02-31"],
      ["--by", "hour"],
      ["now"],
    ])
      expect((await runDiligent(place, ["usage", ...args])).exitCode).toBe(2);
  });
});

test("a budget that is spent is exit code 3 with nothing sent, and a project cannot raise it", async () => {
  const config = join(place.home, ".config", "diligent", "diligent.jsonc");
  mkdirSync(join(config, ".."), { recursive: true });
  writeFileSync(config, '{"budget": {"day": 0.01}}', { mode: 0o600 });
  place.write("diligent.jsonc", { budget: { day: 100 } });
  const first = await say("look");
  const second = await say("--output-format", "json", "again");
  expect([first.exitCode, second.exitCode]).toEqual([3, 3]);
  expect(second.stderr).toContain("The budget of $0.01 for a day is spent ($0.03 today");
  expect(JSON.parse(second.stdout)).toMatchObject({ stopReason: "max_cost", cost: 0, turns: 0 });
  const { requests } = await runJson("cost", "1", "--json");
  expect(requests).toEqual([]);
});

test("export --raw shows secrets only after a question at a terminal", async () => {
  await say("look");
  const { stdout, stderr, exitCode } = await runDiligent(place, ["export", "1", "--format", "html", "--raw"]);
  expect([stdout, exitCode]).toEqual(["", 2]);
  expect(stderr).toContain("run it in a terminal");
});
