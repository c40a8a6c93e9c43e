import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTools, FileTracker, SessionSandbox, type Tool } from "@diligent/core/run";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { quantile } from "../measure/statistics.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 7;
const CALLS = 40;
const DIRECTORIES = 2_500;
const FILES_EACH = 20;
const ADDED_BUDGET_MS = 50;
const FIRST_BUDGET_MS = 200;

/** What the box adds to a command in a project of 50,000 files. */
export const sandbox: Benchmark = {
  name: "sandbox",
  about: "a command in the sandbox, in a project of 50,000 files",
  async measure(stage) {
    const root = createLargeProject(stage);
    const boxed = await openTool(stage, root, "required");
    const open = await openTool(stage, root, "off");
    const [slowBoxed, slowOpen] = [boxed, open].map((tool) => new Series(() => slowCallMs(tool)));
    const [usualBoxed, usualOpen] = [boxed, open].map((tool) => new Series(() => callMs(tool)));
    const first = new Series(async () => callMs(await openTool(stage, root, "required")));
    if (!slowBoxed || !slowOpen || !usualBoxed || !usualOpen) throw new Error("There are two tools.");
    await takeTurns([slowBoxed, slowOpen], stage.runs(RUNS));
    await takeTurns([first, usualBoxed, usualOpen], stage.runs(RUNS * 3));
    const reference = { name: "without", values: usualOpen.values };
    return [
      {
        name: "sandbox, added at the 95th percentile",
        unit: "ms",
        rule: { kind: "per_item", items: 1 },
        measured: slowBoxed.values,
        reference: { name: "without", values: slowOpen.values },
        budget: ADDED_BUDGET_MS,
      },
      {
        name: "sandbox, added to the first command",
        unit: "ms",
        rule: { kind: "per_item", items: 1 },
        measured: first.values,
        reference,
        budget: FIRST_BUDGET_MS,
      },
      {
        name: "sandbox, a command",
        unit: "ms",
        rule: { kind: "ratio" },
        measured: usualBoxed.values,
        reference,
      },
    ] satisfies Figure[];
  },
};

function createLargeProject(stage: Stage): string {
  const root = stage.scratch.makeDirectory("large-project");
  for (let index = 0; index < DIRECTORIES; index++) {
    const directory = join(root, `package-${index % 50}`, `part-${index}`);
    mkdirSync(directory, { recursive: true });
    for (let file = 0; file < FILES_EACH; file++)
      writeFileSync(join(directory, `module-${file}.ts`), "export {};\n");
  }
  for (const name of [".env", "CLAUDE.md", ".git/config", ".github/workflows/ci.yml", "package-1/.npmrc"]) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), "");
  }
  return root;
}

/** A session of its own, in which nothing has run yet. */
async function openTool(stage: Stage, root: string, setting: "required" | "off"): Promise<Tool> {
  const environment = stage.environment();
  const directory = stage.scratch.makeDirectory("session");
  const box = new SessionSandbox({ setting, environment, root, directory: () => directory });
  const tools = createTools({
    cwd: root,
    root,
    files: new FileTracker(),
    outputDirectory: () => directory,
    environment,
    sessionId: "bench",
    commandBox: () => box.commandBox(),
  });
  const tool = tools.find(({ name }) => name === "bash");
  if (!tool) throw new Error("There is no bash tool.");
  return tool;
}

/** The 95th percentile of calls in a row, in ms. */
async function slowCallMs(tool: Tool): Promise<number> {
  const values: number[] = [];
  for (let call = 0; call < CALLS; call++) values.push(await callMs(tool));
  return quantile(values, 0.95);
}

async function callMs(tool: Tool): Promise<number> {
  const args = tool.parameters.parse({ command: "echo done > made" });
  const signal = AbortSignal.timeout(60_000);
  const begin = performance.now();
  const result = await tool.execute(args, { toolCallId: "bench", signal, approve: async () => "once" });
  const elapsedMs = performance.now() - begin;
  if (result.isError) throw new Error(result.output);
  return elapsedMs;
}
