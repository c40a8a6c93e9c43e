import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTools, FileTracker, type Tool } from "@diligent/core";
import type { Benchmark, Figure } from "../figure.ts";
import {
  type PeakMemory,
  recordSpawns,
  runProcess,
  type SpawnedCommand,
  watchPeakMemory,
} from "../measure/process-run.ts";
import { elapsedMs, Series, takeTurns } from "../measure/statistics.ts";
import {
  assertAllSucceeded,
  type CallKind,
  streamedAnswer,
  textAnswer,
  toolRounds,
} from "../stage/answers.ts";
import { type Answer, MessagesServer } from "../stage/messages-server.ts";
import { runPrintMode } from "../stage/program-runs.ts";
import {
  createProject,
  createUnsandboxedHome,
  type Program,
  type Stage,
  writeScript,
} from "../stage/stage.ts";

const TOOL_CALLS_RUNS = 9;
const COUNT = 50;
const BUDGET_MS = 5;
const SANDBOXED_BUDGET_MS = 20;

interface Calls {
  name: string;
  kind: CallKind;
  /** True: commands run in a sandbox if there is one, as by default. */
  isSandboxed?: boolean;
  budget?: number;
}

const CALLS: readonly Calls[] = [
  { name: "bash in the sandbox", kind: "bash", isSandboxed: true, budget: SANDBOXED_BUDGET_MS },
  { name: "bash without a sandbox", kind: "bash", budget: BUDGET_MS },
  { name: "read", kind: "read", budget: BUDGET_MS },
  { name: "mixed", kind: "mixed", budget: BUDGET_MS },
  // Most of a search is ripgrep's own time; the benchmark `grep` separates the two.
  { name: "grep", kind: "grep" },
];

/** The total cost of one of 50 consecutive calls: request, answer, tool, session file. */
export const toolCalls: Benchmark = {
  name: "tool-calls",
  about: "50 consecutive tool calls against a local server, per call",
  async measure(stage) {
    using server = new MessagesServer();
    const unsandboxed = createUnsandboxedHome(stage.scratch);
    const homeOf = ({ isSandboxed = false }: Calls) => (isSandboxed ? undefined : unsandboxed);
    const subjects = (await stage.programs()).flatMap((program) => {
      const none = consecutiveCalls(stage, server, { program, kind: "bash", count: 0, home: unsandboxed });
      return CALLS.filter(({ budget }) => program === stage.checkout || budget !== undefined).map((calls) => {
        const { kind } = calls;
        const series = consecutiveCalls(stage, server, { program, kind, count: COUNT, home: homeOf(calls) });
        return { ...calls, program, none, series };
      });
    });
    const series = subjects.flatMap((subject) => [subject.none, subject.series]);
    await takeTurns([...new Set(series)], stage.runs(TOOL_CALLS_RUNS));
    return subjects.map(
      ({ name, program, budget, none, series }): Figure => ({
        name: `tool call, ${name}, ${program.name}`,
        unit: "ms",
        rule: { kind: "per_item", items: COUNT },
        measured: series.values,
        reference: { name: "no call", values: none.values },
        // The budget is for the bundle; the sources load their modules in many more files.
        ...(budget !== undefined && program !== stage.checkout && { budget }),
      }),
    );
  },
};

interface CallsOptions {
  program: Program;
  kind: CallKind;
  count: number;
  home: string | undefined;
}

/** A complete run with this many calls, in ms. */
function consecutiveCalls(
  stage: Stage,
  server: MessagesServer,
  { program, kind, count, home }: CallsOptions,
): Series {
  return new Series(async () => {
    server.begin(toolRounds(kind, count));
    const { wallMs } = await runPrintMode(stage, {
      program,
      server,
      ...(home !== undefined && { home }),
    });
    assertAllSucceeded(server, count);
    return wallMs;
  });
}

const STREAMING_RUNS = 9;
const CHUNK = "word ";

/** Chunks of a long answer: enough for their cost to exceed that of starting the program. */
const MANY_CHUNKS = 5_000;
const BUDGET_SECONDS = 0.25;

type Source = (stage: Stage, server: MessagesServer, count: number) => Series;

const SOURCES: Readonly<Record<string, Source>> = {
  "scripted provider": fromScript,
  "HTTP and SDK": (stage, server, count) => fromServer(stage, server, { count, format: "text" }),
  "HTTP, stream-json": (stage, server, count) => fromServer(stage, server, { count, format: "stream-json" }),
};

/** The CPU time of a run whose answer arrives in 5,000 chunks, for the whole process including its start. */
export const streaming: Benchmark = {
  name: "streaming",
  about: "CPU time of an answer of 5,000 chunks in print mode",
  async measure(stage) {
    using server = new MessagesServer();
    const subjects = Object.entries(SOURCES).map(([name, create]) => ({
      name,
      many: create(stage, server, MANY_CHUNKS),
      one: create(stage, server, 1),
    }));
    await takeTurns(
      subjects.flatMap(({ many, one }) => [many, one]),
      stage.runs(STREAMING_RUNS),
    );
    return subjects.flatMap(({ name, many, one }) => toFigures(name, many, one));
  },
};

function toFigures(name: string, many: Series, one: Series): Figure[] {
  const figure = {
    unit: "s",
    measured: many.values,
    reference: { name: "one chunk", values: one.values },
  } as const;
  return [
    { ...figure, name: `5,000 chunks, ${name}`, rule: { kind: "amount" }, budget: BUDGET_SECONDS },
    { ...figure, name: `5,000 chunks, ${name}, without start`, rule: { kind: "per_item", items: 1 } },
  ];
}

function fromScript(stage: Stage, _: MessagesServer, count: number): Series {
  const script = join(stage.scratch.makeDirectory("script"), "script.json");
  const turn = { text: CHUNK.repeat(count), chunkChars: CHUNK.length };
  writeFileSync(script, JSON.stringify({ version: 1, turns: [turn] }));
  return new Series(() => cpuSeconds(stage, { args: ["--model", `scripted/${script}`] }));
}

function fromServer(
  stage: Stage,
  server: MessagesServer,
  { count, format }: { count: number; format: "text" | "stream-json" },
): Series {
  const answer = streamedAnswer(Array.from({ length: count }, () => CHUNK));
  return new Series(() => {
    server.begin([answer]);
    return cpuSeconds(stage, { server, args: ["--output-format", format] });
  });
}

async function cpuSeconds(
  stage: Stage,
  options: { server?: MessagesServer; args: readonly string[] },
): Promise<number> {
  const { cpuMs } = await runPrintMode(stage, { program: stage.checkout, ...options });
  return cpuMs / 1000;
}

const MEMORY_RUNS = 7;
const BUDGET_MEGABYTES = 100;

const CONVERSATIONS: Readonly<Record<string, Answer[]>> = {
  "one answer": [textAnswer("Done.")],
  "50 tool calls": toolRounds("mixed", 50),
  "5,000 chunks": [streamedAnswer(Array.from({ length: MANY_CHUNKS }, () => "word "))],
};

/** The peak memory of a `-p` run. */
export const memory: Benchmark = {
  name: "memory",
  about: "peak resident memory of -p",
  async measure(stage) {
    using server = new MessagesServer();
    // An empty script would end before it could be measured.
    const idleScript = writeScript(stage.scratch.makeDirectory("idle"), "await Bun.sleep(50);\n");
    const idle = peakOf((onStart) =>
      runProcess({
        argv: [idleScript],
        cwd: createProject(stage.scratch),
        environment: stage.environment(),
        onStart,
      }),
    );
    const subjects = await conversationsOf(stage, server);
    await takeTurns([idle, ...subjects.map(({ series }) => series)], stage.runs(MEMORY_RUNS));
    return subjects.map(
      ({ name, series }): Figure => ({
        name,
        unit: "MB",
        rule: { kind: "amount" },
        measured: series.values,
        reference: { name: "idle script", values: idle.values },
        budget: BUDGET_MEGABYTES,
      }),
    );
  },
};

async function conversationsOf(stage: Stage, server: MessagesServer) {
  return (await stage.programs()).flatMap((program) =>
    Object.entries(CONVERSATIONS).map(([name, answers]) => ({
      name: `memory, ${name}, ${program.name}`,
      series: peakOf(async (onStart) => {
        server.begin(answers);
        await runPrintMode(stage, { program, server, onStart });
        assertAllSucceeded(server, answers.length - 1);
      }),
    })),
  );
}

/** @param run runs a process and calls back with its id. */
function peakOf(run: (onStart: (pid: number) => void) => Promise<unknown>): Series {
  return new Series(async () => {
    let peak: PeakMemory | undefined;
    try {
      await run((pid) => {
        peak = watchPeakMemory(pid);
      });
    } finally {
      peak?.stop();
    }
    if (!peak?.megabytes) throw new Error("This system has no memory figures (/proc).");
    return peak.megabytes;
  });
}

const GREP_RUNS = 15;
const DIRECTORIES = 100;
const FILES_EACH = 100;
const BUDGET = 1.3;

const SEARCHES: Readonly<Record<string, Record<string, unknown>>> = {
  "a rare word": { pattern: "needle" },
  "a line of every file": { pattern: "^export function first", output_mode: "content" },
};

/**
 * The duration of the grep tool over 10,000 files, as a multiple of ripgrep alone with the same arguments.
 */
export const grep: Benchmark = {
  name: "grep",
  about: "the grep tool over 10,000 files, compared with ripgrep alone",
  async measure(stage) {
    const tool = createGrepTool(stage, createManyFiles(stage));
    const figures: Figure[] = [];
    for (const [name, args] of Object.entries(SEARCHES))
      figures.push(await measureSearch(stage, { name, args, tool }));
    return figures;
  },
};

interface Search {
  name: string;
  args: Record<string, unknown>;
  tool: Tool;
}

async function measureSearch(stage: Stage, { name, args, tool }: Search): Promise<Figure> {
  const search = () => callTool(tool, args);
  const [command] = await recordSpawns(search);
  if (!command) throw new Error("The grep tool started no process.");
  const withTool = new Series(() => elapsedMs(search));
  const alone = new Series(() => elapsedMs(() => runAlone(command)));
  await takeTurns([withTool, alone], stage.runs(GREP_RUNS));
  return {
    name: `grep, ${name}`,
    unit: "ms",
    rule: { kind: "ratio" },
    measured: withTool.values,
    reference: { name: "ripgrep alone", values: alone.values },
    budget: BUDGET,
  };
}

/** Every thousandth file contains the rare word. */
function createManyFiles(stage: Stage): string {
  const root = stage.scratch.makeDirectory("many-files");
  for (let directory = 0; directory < DIRECTORIES; directory++) {
    const path = join(root, `package-${directory}`);
    mkdirSync(path);
    for (let file = 0; file < FILES_EACH; file++) {
      const number = directory * FILES_EACH + file;
      writeFileSync(join(path, `module-${file}.ts`), moduleText(number));
    }
  }
  return root;
}

function moduleText(number: number): string {
  const lines = Array.from(
    { length: 60 },
    (_, line) => `  const value${line} = compute(${number}, ${line});`,
  );
  const comment = number % 1000 === 0 ? "// a needle" : "// some hay";
  return `${[`export function first${number}() {`, ...lines, `  ${comment}`, "}"].join("\n")}\n`;
}

function createGrepTool(stage: Stage, root: string): Tool {
  const tools = createTools({
    cwd: root,
    root,
    files: new FileTracker(),
    outputDirectory: () => undefined,
    environment: stage.environment(),
    sessionId: "bench",
  });
  const tool = tools.find(({ name }) => name === "grep");
  if (!tool) throw new Error("There is no grep tool.");
  return tool;
}

async function callTool(tool: Tool, input: Record<string, unknown>): Promise<void> {
  const args = tool.parameters.parse(input);
  tool.approval?.(args);
  const signal = AbortSignal.timeout(60_000);
  const result = await tool.execute(args, { toolCallId: "bench", signal, approve: async () => "once" });
  if (result.isError || result.metadata?.count === 0) throw new Error(result.output);
}

async function runAlone({ argv, cwd, environment }: SpawnedCommand): Promise<void> {
  const child = Bun.spawn([...argv], {
    cwd,
    env: { ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: 60_000,
  });
  for await (const _ of child.stdout);
  if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")} exited with ${child.exitCode}.`);
}
