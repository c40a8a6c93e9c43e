import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCheckpoints } from "@diligent/core/light";
import type { Benchmark } from "../benchmark.ts";
import { Series, takeTurns } from "../measure/series.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 7;
const DIRECTORIES = 500;
const FILES_EACH = 100;
const FILE_BYTES = 2048;
const FIRST_BUDGET_MS = 3_000;
const LATER_BUDGET_MS = 300;

/** What it costs to keep a project of 50,000 files of 2 KB before a change: the first time, and from then on. */
export const checkpoint: Benchmark = {
  name: "checkpoint",
  about: "keeping 50,000 files of 2 KB before a change",
  async measure(stage) {
    const root = createProject(stage);
    const first = new Series(() => keepFirst(stage, root));
    const reading = new Series(async () => elapsedMs(() => walk(root, (path) => readFileSync(path))));
    const later = new Series(() => keepLater(stage, root));
    const looking = new Series(async () => elapsedMs(() => walk(root, () => {})));
    await takeTurns([first, reading, later, looking], stage.runs(RUNS));
    return [
      {
        name: "checkpoint, the first",
        unit: "ms",
        rule: { kind: "amount" },
        measured: first.values,
        reference: { name: "walk and read", values: reading.values },
        budget: FIRST_BUDGET_MS,
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

/** Into a store that is new. */
async function keepFirst(stage: Stage, root: string): Promise<number> {
  const checkpoints = await open(stage, root);
  const begin = performance.now();
  await checkpoints.beforeChanges({ isFirst: true, notify: refuse });
  const took = performance.now() - begin;
  checkpoints.close();
  return took;
}

/** What a call waits for in a run that is going on; a file has changed in between. */
async function keepLater(stage: Stage, root: string): Promise<number> {
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
  for (let directory = 0; directory < DIRECTORIES; directory++) {
    const path = join(root, `directory-${directory}`);
    mkdirSync(path);
    for (let file = 0; file < FILES_EACH; file++)
      writeFileSync(join(path, `file-${file}.txt`), varied(directory * FILES_EACH + file));
  }
  return root;
}

/** Text that differs from file to file and shrinks about as source code does. */
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

/** As plain a walk as there is. */
function walk(directory: string, take: (path: string) => unknown): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (lstatSync(path).isDirectory()) walk(path, take);
    else take(path);
  }
}
