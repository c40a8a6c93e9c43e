import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trustProject } from "../../../src/config/trust.ts";
import type { ProjectSession } from "../../../src/harness/harness.ts";
import { describeProjectTrust } from "../../../src/harness/trust.ts";
import { limitHosts } from "../../../src/infrastructure/network/host-limit.ts";
import { findBoxProblem } from "../../support/boxed-project.ts";
import { call, createServerStage, type ServerStage, testServer } from "../../support/mcp-stage.ts";
import { countLeftRunning } from "../../support/process-census.ts";
import { testUnless } from "../../support/test-unless.ts";

const auto = { approvalMode: "auto" } as const;
const run = (name: string) => call("mcp__local__run", { name });

/** Writes the servers to the project's `.mcp.json`, and trusts them. */
async function trustServers(stage: ServerStage, servers: object): Promise<void> {
  writeFileSync(join(stage.project, ".mcp.json"), JSON.stringify({ mcpServers: servers }));
  await trustProject(await describeProjectTrust(stage.project, stage.environment), stage.environment);
}

describe("the processes of a server", () => {
  test("are all ended with the harness, also those that ignore TERM and those of a wrapper", async () => {
    const mark = `mark-${crypto.randomUUID()}`;
    const { command = "", args = [] } = testServer("ignore-term", "ignore-end", mark);
    const wrapped = { command: "sh", args: ["-c", `${[command, ...args].join(" ")}; true`] };
    const stage = createServerStage({ local: wrapped });
    const { results } = await stage.play([call("mcp__local__echo", { text: "hi" }), { text: "Done." }], auto);
    expect(results[0]?.output).toBe("Echo: hi");
    expect(await countLeftRunning(mark)).toBe(0);
  });

  test("are ended when the program is killed", async () => {
    const mark = `mark-${crypto.randomUUID()}`;
    const stage = createServerStage({ local: testServer("ignore-term", "ignore-end", mark) });
    const script = join(stage.home, "run.ts");
    const stagePath = join(import.meta.dir, "../../../src");
    writeFileSync(
      script,
      `const { createProjectHarness } = await import(${JSON.stringify(join(stagePath, "harness/harness.ts"))});
       const { McpServers } = await import(${JSON.stringify(join(stagePath, "extensions/mcp/servers.ts"))});
       const { findServers } = await import(${JSON.stringify(join(stagePath, "extensions/mcp/find-servers.ts"))});
       const environment = ${JSON.stringify(stage.environment)};
       const { loaded } = await createProjectHarness({ cwd: ${JSON.stringify(stage.project)}, environment });
       const { servers: definitions } = await findServers({ loaded, environment });
       const servers = new McpServers({ definitions, environment, loaded });
       await servers.connections.get("local").ready();
       console.log("ready");
       await new Promise(() => setInterval(() => {}, 1000));`,
    );
    const child = Bun.spawn([process.execPath, script], { stdout: "pipe" });
    for await (const chunk of child.stdout) if (String(Buffer.from(chunk)).includes("ready")) break;
    child.kill("SIGKILL");
    await child.exited;
    expect(await countLeftRunning(mark)).toBe(0);
  });
});

const boxProblem = await findBoxProblem();

describe("a project's server", () => {
  testUnless(boxProblem)("can only write where its settings say, and reaches no network", async () => {
    const stage = createServerStage();
    const outside = join(stage.project, "stolen.txt");
    const inside = join(stage.project, "out", "made.txt");
    mkdirSync(join(stage.project, "out"));
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
    const turns = [run("write"), run("connect"), { text: "Done." }];
    const url = `url=http://127.0.0.1:${server.port}/`;
    // A checkout below /tmp is not visible in the sandbox.
    const program = join(stage.project, "server.ts");
    copyFileSync(join(import.meta.dir, "../../support/mcp-server.ts"), program);
    const trustWriter = (path: string) => {
      const local = { command: process.execPath, args: [program, `path=${path}`, url] };
      return trustServers(stage, { local: { ...local, sandbox: { write: ["out"] } } });
    };
    await trustWriter(outside);
    const first = await stage.play(turns, auto);
    expect(first.results[0]?.output).toContain("EROFS");
    expect(first.results[1]?.output).toBe("not connected");
    expect(existsSync(outside)).toBe(false);
    await trustWriter(inside);
    expect((await stage.play(turns, auto)).results[0]?.output).toBe("written");
    expect(existsSync(inside)).toBe(true);
  });

  test("asks for trust again when its definition changes, and keeps those that stay the same", async () => {
    const stage = createServerStage();
    stage.configure({ sandbox: "off" });
    await trustServers(stage, { local: testServer(), other: testServer("greet") });
    writeFileSync(
      join(stage.project, ".mcp.json"),
      JSON.stringify({ mcpServers: { local: testServer("stderr"), other: testServer("greet") } }),
    );
    const { results } = await stage.play(
      [call("mcp__local__echo", { text: "1" }), call("mcp__other__echo", { text: "2" }), { text: "Done." }],
      auto,
    );
    expect(results.map(({ isError }) => isError)).toEqual([true, false]);
    const description = await describeProjectTrust(stage.project, stage.environment);
    expect(description.waiting.map(({ name, state }) => [name, state])).toEqual([["local", "changed"]]);
  });
});

describe("a server of the user without the setting sandbox", () => {
  const openStage = (url: string) => {
    const stage = createServerStage();
    // A checkout below /tmp is not visible in the sandbox.
    const program = join(stage.project, "server.ts");
    copyFileSync(join(import.meta.dir, "../../support/mcp-server.ts"), program);
    stage.configure({
      mcpServers: { local: { command: process.execPath, args: [program, `url=${url}`] } },
    });
    return stage;
  };
  const turns = [run("connect"), { text: "Done." }];

  test("reaches any host, and the session says that this is not seen", async () => {
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
    const sessions: ProjectSession[] = [];
    const { results } = await openStage(server.url.href).play(turns, {
      ...auto,
      onOpened: async (session) => void sessions.push(session),
    });
    expect(results[0]?.output).toBe("connected");
    expect(sessions[0]?.networkRecords().unseen).toEqual([
      { unseen: true, purpose: "mcp", command: "local" },
    ]);
  });

  testUnless(boxProblem)("runs in a sandbox while the process is limited to other hosts", async () => {
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
    limitHosts(["example.com"]);
    try {
      const { results } = await openStage(server.url.href).play(turns, auto);
      expect(results[0]?.output).toBe("not connected");
    } finally {
      limitHosts(undefined);
    }
  });
});
