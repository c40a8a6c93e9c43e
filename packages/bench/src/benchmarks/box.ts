import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTools, FileTracker, SessionJobs, SessionSandbox, type Tool } from "@diligent/core/run";
import type { Benchmark, Figure } from "../figure.ts";
import { quantile, Series, takeTurns } from "../measure/statistics.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 7;
const CALLS = 40;
const FILES_EACH = 20;
const FIRST_BUDGET_MS = 200;

interface Size {
  name: string;
  directories: number;
  budget: number;
}

const SIZES: readonly Size[] = [
  { name: "1,000 files", directories: 50, budget: 15 },
  { name: "50,000 files", directories: 2_500, budget: 50 },
];

/** What the sandbox adds to a command that does nothing, in a small and in a large project. */
export const box: Benchmark = {
  name: "box",
  about: "`true` in the sandbox, in projects of 1,000 and 50,000 files",
  async measure(stage) {
    const figures: Figure[] = [];
    for (const size of SIZES) figures.push(...(await measureSize(stage, size)));
    return figures;
  },
};

async function measureSize(stage: Stage, { name, directories, budget }: Size): Promise<Figure[]> {
  const root = createProject(stage, directories);
  const boxed = await openSession(stage, root, "required");
  const open = await openSession(stage, root, "off");
  const slowest = { boxed: new Series(() => slowCallMs(boxed)), open: new Series(() => slowCallMs(open)) };
  const usual = { boxed: new Series(() => callMs(boxed)), open: new Series(() => callMs(open)) };
  const first = new Series(async () => callMs(await openSession(stage, root, "required")));
  await takeTurns(Object.values(slowest), stage.runs(RUNS));
  await takeTurns([first, ...Object.values(usual)], stage.runs(RUNS * 3));
  return [
    {
      name: `box, ${name}, added at the 95th percentile`,
      unit: "ms",
      rule: { kind: "per_item", items: 1 },
      measured: slowest.boxed.values,
      reference: { name: "without", values: slowest.open.values },
      budget,
    },
    {
      name: `box, ${name}, added to the first command`,
      unit: "ms",
      rule: { kind: "per_item", items: 1 },
      measured: first.values,
      reference: { name: "without", values: usual.open.values },
      budget: FIRST_BUDGET_MS,
    },
    {
      name: `box, ${name}, a command`,
      unit: "ms",
      rule: { kind: "ratio" },
      measured: usual.boxed.values,
      reference: { name: "without", values: usual.open.values },
    },
  ];
}

function createProject(stage: Stage, directories: number): string {
  const root = stage.scratch.makeDirectory("box-project");
  for (let index = 0; index < directories; index++) {
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

/** The commands of a session, without a model. */
export interface CommandSession {
  /** The tool that runs commands. */
  tool: Tool;
  tools: readonly Tool[];
  sandbox: SessionSandbox;
  jobs: SessionJobs;
}

/** A new session, in which nothing has run yet. */
export async function openSession(
  stage: Stage,
  root: string,
  setting: SessionSandbox["setting"],
): Promise<CommandSession> {
  const environment = stage.environment();
  const directory = stage.scratch.makeDirectory("session");
  const sandbox = new SessionSandbox({ setting, environment, root, directory: () => directory });
  const jobs = new SessionJobs();
  const tools = createTools({
    cwd: root,
    root,
    files: new FileTracker(),
    outputDirectory: () => directory,
    environment,
    sessionId: "bench",
    jobs,
    sandboxState: () => sandbox.sandboxState(),
  });
  const tool = tools.find(({ name }) => name === "bash");
  if (!tool) throw new Error("There is no bash tool.");
  return { tool, tools, sandbox, jobs };
}

/** The 95th percentile of consecutive calls, in ms. */
async function slowCallMs(session: CommandSession): Promise<number> {
  const values: number[] = [];
  for (let call = 0; call < CALLS; call++) values.push(await callMs(session));
  return quantile(values, 0.95);
}

/** One call of a command that does nothing, in ms. */
export async function callMs({ tool, sandbox }: CommandSession): Promise<number> {
  const args = tool.parameters.parse({ command: "true" });
  const signal = AbortSignal.timeout(60_000);
  const begin = performance.now();
  const result = await tool.execute(args, { toolCallId: "bench", signal, approve: async () => "once" });
  const elapsedMs = performance.now() - begin;
  if (result.isError) throw new Error(result.output);
  // The time in which a model answers.
  await sandbox.prepare();
  return elapsedMs;
}
