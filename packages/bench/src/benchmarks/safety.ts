import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApprovalContext, type ApprovalRequest, decideApproval } from "@diligent/core";
import { openCheckpoints } from "@diligent/core/light";
import type { Benchmark, Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/statistics.ts";
import type { Stage } from "../stage/stage.ts";

const APPROVAL_RUNS = 21;
const DECISIONS = 100;
const FILES = 1_000;
const FILES_FOR_PATTERN = 40;
const BUDGET_MS = 1;

const RULES: ApprovalContext["rules"] = [
  { permission: "read", pattern: "private/**", action: "ask" },
  { permission: "write", pattern: "generated/**", action: "allow" },
  { permission: "execute", pattern: "npm run *", action: "allow" },
  { permission: "execute", pattern: "curl", action: "deny" },
];

const SUBJECTS: Readonly<Record<string, readonly ApprovalRequest[]>> = {
  "a command": ["ls -la src", "npm run lint && git status", "cat lib/*.ts | head -50", "touch x > y"].map(
    toCommand,
  ),
  "a line of 60 commands": [toCommand(Array.from({ length: 60 }, (_, index) => `echo ${index}`).join("; "))],
  "a path": ["src/file-1.ts", "missing/x.ts", "/etc/hosts", ".git/config"].map((path) => ({
    permission: "write" as const,
    toolName: "write",
    description: "",
    details: { path },
  })),
  "a search through 1,000 files": [toCommand("grep -rn x src")],
};

/** The cost of deciding about one call once the bash grammar is loaded. */
export const approval: Benchmark = {
  name: "approval",
  about: "deciding about a call, per call",
  async measure(stage) {
    const context = createContext(stage);
    const subjects = Object.entries(SUBJECTS).map(([name, requests]) => ({
      name,
      series: new Series(() => decisionMs(requests, context)),
    }));
    await takeTurns(
      subjects.map(({ series }) => series),
      stage.runs(APPROVAL_RUNS),
    );
    return subjects.map(
      ({ name, series }): Figure => ({
        name: `approval, ${name}`,
        unit: "ms",
        rule: { kind: "amount" },
        measured: series.values,
        // A search is evaluated file by file, so its cost has no fixed limit.
        ...(!name.startsWith("a search") && { budget: BUDGET_MS }),
      }),
    );
  },
};

function toCommand(command: string): ApprovalRequest {
  return { permission: "execute", toolName: "bash", description: "", details: { command } };
}

function createContext(stage: Stage): ApprovalContext {
  const root = stage.scratch.makeDirectory("approval");
  for (const [directory, count] of [
    ["src", FILES],
    ["lib", FILES_FOR_PATTERN],
  ] as const) {
    mkdirSync(join(root, directory));
    for (let index = 0; index < count; index++) writeFileSync(join(root, directory, `file-${index}.ts`), "");
  }
  return { root, cwd: root, rules: RULES, environment: stage.environment() };
}

async function decisionMs(requests: readonly ApprovalRequest[], context: ApprovalContext): Promise<number> {
  const begin = performance.now();
  for (let round = 0; round < DECISIONS / requests.length; round++) {
    for (const request of requests) await decideApproval(request, context);
  }
  return (performance.now() - begin) / DECISIONS;
}

const CHECKPOINT_RUNS = 7;
const CHECKPOINT_DIRECTORIES = 500;
const CHECKPOINT_FILES_EACH = 100;
const FILE_BYTES = 2048;
const CHECKPOINT_FIRST_BUDGET_MS = 3_000;
const LATER_BUDGET_MS = 300;

/** The cost of recording a project of 50,000 files of 2 KB before a change: the first time, and later. */
export const checkpoint: Benchmark = {
  name: "checkpoint",
  about: "recording 50,000 files of 2 KB before a change",
  async measure(stage) {
    const root = createProject(stage);
    const first = new Series(() => recordFirst(stage, root));
    const reading = new Series(async () => elapsedMs(() => walk(root, (path) => readFileSync(path))));
    const later = new Series(() => recordLater(stage, root));
    const looking = new Series(async () => elapsedMs(() => walk(root, () => {})));
    await takeTurns([first, reading, later, looking], stage.runs(CHECKPOINT_RUNS));
    return [
      {
        name: "checkpoint, the first",
        unit: "ms",
        rule: { kind: "amount" },
        measured: first.values,
        reference: { name: "walk and read", values: reading.values },
        budget: CHECKPOINT_FIRST_BUDGET_MS,
      },
      {
        name: "checkpoint, a later one",
        unit: "ms",
        rule: { kind: "amount" },
        measured: later.values,
        reference: { name: "walk", values: looking.values },
        budget: LATER_BUDGET_MS,
      },
    ];
  },
};

/** Into a new store. */
async function recordFirst(stage: Stage, root: string): Promise<number> {
  const checkpoints = await open(stage, root);
  const begin = performance.now();
  await checkpoints.beforeChanges({ isFirst: true, notify: refuse });
  const took = performance.now() - begin;
  checkpoints.close();
  return took;
}

/** What a call waits for during a run; one file has changed since the last recording. */
async function recordLater(stage: Stage, root: string): Promise<number> {
  const checkpoints = await open(stage, root);
  await checkpoints.beforeChanges({ isFirst: true, notify: refuse });
  writeFileSync(join(root, "directory-0", "file-0.txt"), `${performance.now()}\n`);
  checkpoints.afterChanges();
  await checkpoints.settled();
  const begin = performance.now();
  await checkpoints.beforeChanges({ isFirst: false, notify: refuse });
  const took = performance.now() - begin;
  checkpoints.afterChanges();
  await checkpoints.settled();
  checkpoints.close();
  return took;
}

function open(stage: Stage, root: string) {
  const state = stage.scratch.makeDirectory("state");
  const environment = { HOME: stage.home, XDG_STATE_HOME: state };
  return openCheckpoints({ root, environment, sessionId: "bench" });
}

function refuse(_level: string, _code: string, message: string): void {
  throw new Error(message);
}

function createProject(stage: Stage): string {
  const root = stage.scratch.makeDirectory("checkpoint-project");
  for (let directory = 0; directory < CHECKPOINT_DIRECTORIES; directory++) {
    const path = join(root, `directory-${directory}`);
    mkdirSync(path);
    for (let file = 0; file < CHECKPOINT_FILES_EACH; file++)
      writeFileSync(join(path, `file-${file}.txt`), varied(directory * CHECKPOINT_FILES_EACH + file));
  }
  return root;
}

/** Text that differs from file to file and compresses about as well as source code. */
function varied(seed: number): string {
  let text = "";
  for (let line = 0; text.length < FILE_BYTES; line++)
    text += `const value${(seed * 7919 + line * 104_729) % 99_991} = compute(${seed}, ${line});\n`;
  return text.slice(0, FILE_BYTES);
}

function elapsedMs(work: () => void): number {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}

/** The simplest possible walk. */
function walk(directory: string, take: (path: string) => unknown): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (lstatSync(path).isDirectory()) walk(path, take);
    else take(path);
  }
}
