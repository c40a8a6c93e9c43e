import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countLeftRunning } from "../../core/test/support/process-census.ts";
import { writeUserConfig } from "./support/compatible-service.ts";
import { parseLines, runDiligent, startDiligent } from "./support/run-diligent.ts";
import { runInTerminal } from "./support/run-in-terminal.ts";
import { savedMessages } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

const SERVER = join(import.meta.dir, "../../core/test/support/mcp-server.ts");
const bun = process.execPath;

function configPath({ home }: TemporaryProject): string {
  return join(home, ".config/diligent/diligent.jsonc");
}

describe("diligent mcp", () => {
  test("adds, tests, disables, enables and removes a server, and leaves the rest of the file alone", async () => {
    const place = createTemporaryProject();
    mkdirSync(join(place.home, ".config/diligent"), { recursive: true });
    writeFileSync(configPath(place), '{\n  // mine\n  "effort": "low"\n}\n', { mode: 0o600 });
    const run = (...args: string[]) => runDiligent(place, ["mcp", ...args]);
    expect((await run("add", "local", "--env", "A=b=c", "--", bun, SERVER, "greet", "--help")).exitCode).toBe(
      0,
    );
    expect((await run("add", "local", "--", "x")).exitCode).toBe(2);
    const listed = await run("list", "--json");
    expect([listed.exitCode, JSON.parse(listed.stdout)]).toEqual([
      0,
      [{ name: "local", transport: "stdio", enabled: true, state: "ready", tools: 2 }],
    ]);
    expect((await run("test", "local")).stdout).toContain("echo Echoes its text");
    expect((await run("disable", "local")).exitCode).toBe(0);
    expect(JSON.parse((await run("list", "--json")).stdout)[0]).toMatchObject({
      enabled: false,
      state: "disabled",
    });
    expect((await run("enable", "local")).exitCode).toBe(0);
    const written = readFileSync(configPath(place), "utf8");
    expect(written).toStartWith('{\n  // mine\n  "effort": "low",\n  "mcpServers": {');
    expect(written).toContain('"A": "b=c"');
    expect((await run("remove", "local")).exitCode).toBe(0);
    expect(readFileSync(configPath(place), "utf8")).not.toContain("local");
  });

  test("list exits with 1 if an enabled server does not answer, and shows no secret", async () => {
    const place = createTemporaryProject();
    const url = "http://127.0.0.1:9/mcp?token=k3y-in-the-address";
    const headers = { Authorization: "Bearer value-of-the-token" };
    writeUserConfig(place, { mcpServers: { gone: { type: "http", url, headers } } });
    const { exitCode, stdout, stderr } = await runDiligent(place, ["mcp"]);
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringContaining("gone  failed  http: http://127.0.0.1:9/mcp?"),
    ]);
    expect(stdout + stderr).not.toMatch(/k3y|value-of/);
  });

  test.each([
    [["frobnicate"], "unknown action"],
    [["test", "nothing"], "there is no server nothing"],
    [["add", "x"], "either -- COMMAND or --url URL"],
    [["add", "x", "npx"], "the COMMAND follows --"],
    [["add", "x", "--url", "ftp://h"], "needs an address"],
    [["add", "x y", "--", "z"], "a NAME is made of"],
    [["add", "x", "--env", "A", "--", "z"], "--env needs NAME=VALUE"],
    [["remove"], "needs the NAME"],
  ])("%j is refused with exit code 2", async (args, message) => {
    const { exitCode, stderr } = await runDiligent(createTemporaryProject(), ["mcp", ...args]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("what add --project writes needs no further trust, and what others wrote does", async () => {
    const place = createTemporaryProject();
    // A checkout below /tmp is not visible in the sandbox.
    const server = place.write("server.ts", readFileSync(SERVER, "utf8"));
    await runDiligent(place, ["mcp", "add", "own", "--project", "--", bun, server]);
    expect(existsSync(join(place.project, "diligent.jsonc"))).toBe(true);
    writeFileSync(
      join(place.project, ".mcp.json"),
      JSON.stringify({ mcpServers: { theirs: { command: "touch", args: [join(place.home, "canary")] } } }),
    );
    const { stdout } = await runDiligent(place, ["mcp", "list", "--json"]);
    const states = JSON.parse(stdout).map(({ name, state }: Record<string, unknown>) => [name, state]);
    expect(states).toEqual([
      ["own", "ready"],
      ["theirs", "untrusted"],
    ]);
    expect(existsSync(join(place.home, "canary"))).toBe(false);
  });
});

test("a run with -p calls a server's tool, and leaves none of its processes", async () => {
  const place = createTemporaryProject();
  const mark = `mark-${crypto.randomUUID()}`;
  writeUserConfig(place, {
    mcpServers: { local: { command: bun, args: [SERVER, "ignore-term", "ignore-end", mark] } },
  });
  const script = join(place.home, "script.json");
  const turns = [{ toolCalls: [{ name: "mcp__local__echo", input: { text: "hi" } }] }, { text: "Done." }];
  writeFileSync(script, JSON.stringify({ version: 1, turns }));
  const args = ["-p", "Go.", "-m", `scripted/${script}`];
  const refused = await runDiligent(place, args);
  expect([refused.exitCode, refused.stderr]).toEqual([4, expect.stringContaining('"pattern":"local__echo"')]);
  const allowed = await runDiligent(place, [...args, "--approval", "auto", "--output-format", "stream-json"]);
  const results = parseLines(allowed.stdout).filter(({ type }) => type === "tool_end");
  expect(results.map(({ output }) => output)).toEqual(["Echo: hi"]);
  expect(await countLeftRunning(mark)).toBe(0);
});

test("a prompt at the line prompt attaches a server's resource by @SERVER:URI", async () => {
  const place = createTemporaryProject();
  writeUserConfig(place, { mcpServers: { local: { command: bun, args: [SERVER, "resources"] } } });
  place.write("script.json", { version: 1, turns: [{ text: "Seen." }] });
  const program = runInTerminal(place, ["-m", "scripted/script.json"]);
  await program.shown("diligent> ");
  program.type("What does @local:note://7 say?\r");
  await program.shown("Seen.");
  program.type("\x04");
  expect(await program.exitCode).toBe(0);
  expect(savedMessages(place)[0]?.content).toMatchObject([
    { text: "What does @local:note://7 say?" },
    { text: expect.stringContaining("content of note://7") },
  ]);
});

describe("diligent mcp serve", () => {
  /** Sends the lines, and returns the answers by id once all have come. */
  async function converse(place: TemporaryProject, lines: readonly unknown[]) {
    const stdin = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
    const { stdout, exitCode } = await runDiligent(place, ["mcp", "serve"], { stdin });
    return { answers: parseLines(stdout), exitCode };
  }

  const request = (id: number, method: string, params: object = {}) => ({
    jsonrpc: "2.0",
    id,
    method,
    params,
  });

  test("speaks only the protocol, and refuses what it does not know", async () => {
    const { answers, exitCode } = await converse(createTemporaryProject(), [
      request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} }),
      { jsonrpc: "2.0", method: "notifications/initialized" },
      request(2, "tools/list"),
      "not json",
      request(3, "resources/list"),
      request(4, "tools/call", { name: "run", arguments: {} }),
      request(5, "tools/call", { name: "run", arguments: { prompt: "x", approval: "everything" } }),
      request(6, "tools/call", { name: "nothing" }),
    ]);
    expect(exitCode).toBe(0);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    expect(byId.get(1)).toMatchObject({
      result: { protocolVersion: "2025-06-18", serverInfo: { name: "diligent" } },
    });
    expect(byId.get(2)).toMatchObject({ result: { tools: [{ name: "run" }, { name: "sessions_search" }] } });
    expect(byId.get(null)).toMatchObject({ error: { code: -32700 } });
    expect(byId.get(3)).toMatchObject({ error: { code: -32601 } });
    for (const id of [4, 5, 6]) expect(byId.get(id)).toMatchObject({ error: { code: -32602 } });
  });

  test("can be used in the revision without a session, and names the revisions that it knows", async () => {
    const place = createTemporaryProject();
    const args = [join(import.meta.dir, "../src/index.ts"), "mcp", "serve"];
    writeUserConfig(place, { mcpServers: { own: { command: bun, args, protocol: "2026-07-28" } } });
    const { stdout, exitCode } = await runDiligent(place, ["mcp", "test", "own"]);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^ *run .*\n *sessions_search /m)]);
    const version = "io.modelcontextprotocol/protocolVersion";
    const { answers } = await converse(place, [
      request(1, "tools/list", { _meta: { [version]: "2030-01-01" } }),
      request(2, "tools/list", { _meta: { [version]: "2026-07-28" } }),
    ]);
    expect(answers.find(({ id }) => id === 1)).toMatchObject({
      error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2030-01-01" } },
    });
    expect(answers.find(({ id }) => id === 2)).toMatchObject({ result: { resultType: "complete" } });
  });

  test("runs a task that can only read, unless the client chooses otherwise, and finds it again", async () => {
    const place = createTemporaryProject();
    const script = join(place.home, "script.json");
    const write = { name: "write", input: { file_path: "made.txt", content: "made" } };
    writeFileSync(
      script,
      JSON.stringify({ version: 1, turns: [{ toolCalls: [write] }, { text: "The answer." }] }),
    );
    writeUserConfig(place, { model: `scripted/${script}` });
    const serving = startDiligent(place, ["mcp", "serve"], { stdin: null });
    const { stdin } = serving.process;
    if (typeof stdin !== "object") throw new Error("There is no input.");
    const send = (message: object) => void stdin.write(`${JSON.stringify(message)}\n`);
    send(request(1, "tools/call", { name: "run", arguments: { prompt: "Write it." } }));
    await serving.shown('"id":1');
    expect(existsSync(join(place.project, "made.txt"))).toBe(false);
    send(request(2, "tools/call", { name: "run", arguments: { prompt: "Write it.", approval: "auto" } }));
    await serving.shown('"id":2');
    expect(existsSync(join(place.project, "made.txt"))).toBe(true);
    send(request(3, "tools/call", { name: "sessions_search", arguments: { query: "The answer", limit: 1 } }));
    await serving.shown('"id":3');
    stdin.end();
    const answers = parseLines((await serving.ended).stdout);
    expect(answers[0]).toMatchObject({ id: 1, result: { content: [{ type: "text", text: "The answer." }] } });
    expect(answers[1]).toMatchObject({ id: 2, result: { structuredContent: { stopReason: "end_turn" } } });
    expect(answers[2]).toMatchObject({
      id: 3,
      result: { structuredContent: { matches: [{ text: "The answer." }] } },
    });
  });
});
