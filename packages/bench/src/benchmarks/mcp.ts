import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "@diligent/core/harness";
import { findServers } from "../../../core/src/extensions/mcp/find-servers.ts";
import { McpServers } from "../../../core/src/extensions/mcp/servers.ts";
import { countLeftRunning } from "../../../core/test/support/process-census.ts";
import type { Benchmark, Figure } from "../figure.ts";
import { runProcess } from "../measure/process-run.ts";
import { Series, takeTurns } from "../measure/statistics.ts";
import { textAnswer, toolCallAnswer } from "../stage/answers.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { runPrintMode } from "../stage/program-runs.ts";
import { createProject, type Program, type Stage } from "../stage/stage.ts";

const SERVERS = 5;
const START_RUNS = 41;
const START_BUDGET = 1.1;
const CALL_RUNS = 201;
const CALL_BUDGET_MS = 3;
const END_RUNS = 100;
/** Every so many runs, the program is killed in the middle. */
const KILLED_EVERY = 4;
// Of the benchmark's model; 1,500 tokens of it are the limit.
const WINDOW_TOKENS = 200_000;
const BUDGET_PERCENT = 0.75;
const CHARACTERS_PER_TOKEN = 4;

const TEST_SERVER = join(import.meta.dir, "../../../core/test/support/mcp-server.ts");

/** What servers of the Model Context Protocol cost: until the first request, in it, for a call, and at the end. */
export const mcp: Benchmark = {
  name: "mcp",
  about: "five MCP servers: start, tokens, a warm call, and processes that are left",
  async measure(stage) {
    return [...(await measureStart(stage)), await measureCall(stage), await measureEnds(stage)];
  },
};

/** A home with servers that have been reached before, as after their first session. */
async function makeHome(stage: Stage, mark: string): Promise<string> {
  const home = stage.scratch.makeDirectory("home");
  const server = { command: process.execPath, args: [TEST_SERVER, "tools=20", mark] };
  const mcpServers = Object.fromEntries(
    Array.from({ length: SERVERS }, (_, index) => [`server-${index}`, server]),
  );
  mkdirSync(join(home, ".config/diligent"), { recursive: true });
  writeFileSync(join(home, ".config/diligent/diligent.jsonc"), JSON.stringify({ mcpServers }), {
    mode: 0o600,
  });
  await runProcess({
    argv: [stage.checkout.path, "mcp", "list"],
    cwd: createProject(stage.scratch),
    environment: stage.environment(home),
  });
  return home;
}

async function measureStart(stage: Stage): Promise<Figure[]> {
  using server = new MessagesServer();
  const homes = { without: stage.scratch.makeDirectory("home"), with: await makeHome(stage, "bench-start") };
  const sizes = { without: 0, with: 0 };
  const measure = (program: Program, which: "without" | "with") =>
    new Series(async () => {
      server.begin([textAnswer("Done.")]);
      const { startedAt } = await runPrintMode(stage, { program, server, home: homes[which] });
      const [request] = server.requests;
      if (!request) throw new Error("No request arrived.");
      sizes[which] = request.body.length;
      return request.arrivedAt - startedAt;
    });
  const subjects = (await stage.programs()).map((program) => ({
    program,
    reference: measure(program, "without"),
    series: measure(program, "with"),
  }));
  await takeTurns(
    subjects.flatMap(({ reference, series }) => [reference, series]),
    stage.runs(START_RUNS),
  );
  const tokens = (sizes.with - sizes.without) / CHARACTERS_PER_TOKEN;
  return [
    ...subjects.map(
      ({ program, reference, series }): Figure => ({
        name: `${SERVERS} servers, until the first request, ${program.name}`,
        unit: "ms",
        rule: { kind: "ratio" },
        measured: series.values,
        reference: { name: "without servers", values: reference.values },
        ...(program.name === "bundle" && { budget: START_BUDGET }),
      }),
    ),
    {
      name: `${SERVERS} servers with ${SERVERS * 22} tools, share of the usable window`,
      unit: "%",
      rule: { kind: "amount" },
      measured: [(100 * tokens) / WINDOW_TOKENS],
      budget: BUDGET_PERCENT,
    },
  ];
}

/** From the call to its result, in this process, the server's own time included. */
async function measureCall(stage: Stage): Promise<Figure> {
  const environment = stage.environment(await makeHome(stage, "bench-call"));
  const loaded = await loadConfig(createProject(stage.scratch), environment);
  const { servers: definitions } = await findServers({ loaded, environment });
  const servers = new McpServers({ definitions: definitions.slice(0, 1), environment, loaded });
  try {
    const [connection] = servers.connections.values();
    await connection?.ready();
    const tool = connection?.catalog?.tools.find(({ name }) => name === "echo");
    if (!connection || !tool) throw new Error("The server did not start.");
    const { signal } = new AbortController();
    const call = new Series(async () => {
      const begin = performance.now();
      await connection.call(tool, { text: "hi" }, { signal });
      return performance.now() - begin;
    });
    await takeTurns([call], stage.runs(CALL_RUNS));
    return {
      name: "a warm call over stdio, with the server's own time",
      unit: "ms",
      rule: { kind: "amount" },
      measured: call.values,
      budget: CALL_BUDGET_MS,
    };
  } finally {
    await servers.close();
  }
}

/** The share of runs of the program, some of them killed, that leave a process of a server. */
async function measureEnds(stage: Stage): Promise<Figure> {
  using server = new MessagesServer();
  const mark = `bench-end-${crypto.randomUUID()}`;
  const home = await makeHome(stage, mark);
  const runs = stage.runs(END_RUNS);
  let left = 0;
  for (let run = 0; run < runs; run++) {
    const isKilled = run % KILLED_EVERY === KILLED_EVERY - 1;
    server.begin([
      toolCallAnswer({ name: "mcp__server-0__echo", input: { text: "hi" } }, 1),
      textAnswer("Done."),
    ]);
    let pid: number | undefined;
    const running = runPrintMode(stage, {
      program: stage.checkout,
      server,
      home,
      onStart: (started) => {
        pid = started;
      },
    }).catch((error: unknown) => {
      // A killed run fails.
      if (!isKilled) throw error;
    });
    if (isKilled) {
      while (server.requests.length < 2) await Bun.sleep(5);
      if (pid !== undefined) process.kill(pid, "SIGKILL");
    }
    await running;
    if ((await countLeftRunning(mark)) > 0) left += 1;
  }
  return {
    name: `runs of ${runs} that leave a process`,
    unit: "%",
    rule: { kind: "amount" },
    measured: [(100 * left) / runs],
    budget: 0,
  };
}
