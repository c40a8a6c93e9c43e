import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { startHttpServer } from "../../../core/test/support/mcp-http-server.ts";
import { type SseServer, startSseServer } from "../../../core/test/support/sse-server.ts";
import { compatibleReply, writeUserConfig } from "../support/compatible-service.ts";
import { PROGRAM_BY_PATH, parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const CALL = { id: "call_1", name: "mcp__remote__echo", input: { text: "hello" } };

const portOf = (url: string) => Number(new URL(url).port);

/** A model at one address, a server at another, and a hook at a third. */
async function openServices() {
  const provider = await startSseServer(
    compatibleReply({ text: "", calls: [CALL] }),
    compatibleReply({ text: "Done." }),
  );
  const mcp = startHttpServer("legacy");
  const hooks = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({}) });
  configure(provider, {
    mcpServers: { remote: { type: "http", url: mcp.url } },
    hooks: { UserPromptSubmit: [{ hooks: [{ type: "http", url: `${hooks.url}hook` }] }] },
  });
  return {
    ports: {
      provider: portOf(provider.url),
      mcp: portOf(mcp.url),
      hook: hooks.port ?? 0,
    },
    mcp,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await hooks.stop(true);
    },
  };
}

function configure({ url }: SseServer, more: object): void {
  writeUserConfig(place, { provider: { compatible: { local: { baseUrl: `${url}/v1` } } }, ...more });
}

async function run(args: readonly string[] = []) {
  const words = [
    "-p",
    "go",
    "-m",
    "local/any",
    "--approval",
    "auto",
    "--output-format",
    "stream-json",
    ...args,
  ];
  const { stdout, exitCode } = await runDiligent(place, words);
  const events = parseLines(stdout);
  const { stdout: listed } = await runDiligent(place, ["network", "--json"]);
  return {
    exitCode,
    connections: events.filter(({ type }) => type === "network"),
    ends: events.filter(({ type }) => type === "tool_end"),
    listed: JSON.parse(listed),
  };
}

describe("the program's own connections", () => {
  test("are listed with their purpose: the provider, a server, a hook", async () => {
    await using services = await openServices();
    const { exitCode, listed, ends } = await run();
    expect(exitCode).toBe(0);
    expect(ends).toMatchObject([{ output: expect.stringContaining("hello") }]);
    const { ports } = services;
    const rows = listed.map(({ port, purpose, by, command }: Record<string, unknown>) => ({
      ...{ port, purpose, by, command },
    }));
    const expected = [
      { port: ports.provider, purpose: "provider", by: "the model's provider" },
      { port: ports.mcp, purpose: "mcp", by: "the server's configuration", command: "remote" },
      { port: ports.hook, purpose: "hook", by: expect.stringContaining("a hook of ") },
    ];
    for (const row of expected) expect(rows).toContainEqual(row);
    expect(new Set(rows.map(({ port }: { port: number }) => port)).size).toBe(expected.length);
  });

  test("all but the provider's are refused, and nothing is sent, where --only-host names only that one", async () => {
    await using services = await openServices();
    const { ports, mcp } = services;
    const { exitCode, listed, ends } = await run(["--only-host", `127.0.0.1:${ports.provider}`]);
    expect(exitCode).toBe(0);
    expect(ends).toMatchObject([{ isError: true, output: expect.stringContaining("--only-host") }]);
    expect(mcp.requests).toEqual([]);
    const others: Record<string, unknown>[] = listed.filter(({ purpose }: Record<string, unknown>) => {
      return purpose !== "provider";
    });
    expect(new Set(others.map(({ port }) => port))).toEqual(new Set([ports.mcp, ports.hook]));
    for (const each of others)
      expect(each).toMatchObject({
        allowed: false,
        bytes: 0,
        by: `--only-host does not name 127.0.0.1:${each.port}`,
      });
  });
});

describe("what cannot be seen", () => {
  const START = ["-m", "scripted/script.json"];

  function script(...commands: string[]): void {
    const calls = commands.map((command) => ({ name: "bash", input: { command } }));
    place.write(
      "script.json",
      JSON.stringify({ version: 1, turns: [{ toolCalls: calls }, { text: "Done." }] }),
    );
  }

  test("is said of commands without a sandbox, once for all of them", async () => {
    place.configure({ sandbox: "off" });
    script("true", "echo a");
    const { exitCode } = await runDiligent(place, ["-p", "go", ...START, "--approval", "auto"]);
    expect(exitCode).toBe(0);
    const { stdout } = await runDiligent(place, ["network", "--json"]);
    expect(JSON.parse(stdout)).toEqual([{ unseen: true, purpose: "command" }]);
    const text = (await runDiligent(place, ["network"])).stdout;
    expect(text).toContain("No connections in this session.");
    expect(text).toContain("Not seen, because these ran outside a sandbox:\n  command  all commands");
  });

  test("does not run with --only-host: a command without a sandbox, and a module", async () => {
    place.configure({ sandbox: "off", extensions: ["./module.ts"] });
    place.write("module.ts", "export default () => { process.stderr.write('module ran'); };");
    script("echo ran > out.txt");
    const programs = join(place.top, "bin");
    mkdirSync(programs);
    for (const name of ["bash", "sh"]) symlinkSync(`/bin/${name}`, join(programs, name));
    const environment = { PATH: programs };
    const words = ["-p", "go", ...START, "--approval", "auto", "--only-host", "example.com"];
    const { stdout, stderr } = await runDiligent(place, [...words, "--output-format", "stream-json"], {
      environment,
      program: PROGRAM_BY_PATH,
    });
    const ends = parseLines(stdout).filter(({ type }) => type === "tool_end");
    expect(ends).toMatchObject([{ isError: true, output: expect.stringContaining("Not run") }]);
    expect(stdout + stderr).toContain("--only-host cannot limit modules");
    expect(stdout + stderr).toContain("--only-host cannot limit commands outside a sandbox");
    expect(stderr).not.toContain("module ran");
  });
});
