import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTools, FileTracker, type Tool } from "@diligent/core";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { elapsedMs } from "../measure/elapsed-ms.ts";
import { recordSpawns, type SpawnedCommand } from "../measure/record-spawns.ts";
import { Series, takeTurns } from "../measure/series.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 15;
const DIRECTORIES = 100;
const FILES_EACH = 100;
const BUDGET = 1.3;

const SEARCHES: Readonly<Record<string, Record<string, unknown>>> = {
  "a rare word": { pattern: "needle" },
  "a line of every file": { pattern: "^export function first", output_mode: "content" },
};

/** How long the grep tool takes over 10,000 files, as a multiple of ripgrep alone with the same arguments. */
export const grep: Benchmark = {
  name: "grep",
  about: "the grep tool over 10,000 files, against ripgrep alone",
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
  await takeTurns([withTool, alone], stage.runs(RUNS));
  return {
    name: `grep, ${name}`,
    unit: "ms",
    rule: { kind: "ratio" },
    measured: withTool.values,
    reference: { name: "ripgrep alone", values: alone.values },
    budget: BUDGET,
  };
}

/** Every thousandth file holds the rare word. */
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
  if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")} ended with ${child.exitCode}.`);
}
