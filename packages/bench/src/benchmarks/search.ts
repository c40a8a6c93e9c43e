import { readFileSync } from "node:fs";
import { readSessionText } from "@diligent/core/sessions";
import type { Benchmark } from "../benchmark.ts";
import { elapsedMs } from "../measure/elapsed-ms.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { createProject } from "../stage/project.ts";
import { writeSessions } from "../stage/session-files.ts";

const RUNS = 9;
const SESSIONS = 1000;
// As much of a session as `/resume` searches.
const MAX_CHARACTERS = 200_000;
const BUDGET = 5;

/** What `/resume` does once to search in what was said: the text of very many sessions. */
export const search: Benchmark = {
  name: "search",
  about: "reading what was said in 1,000 sessions of 100 KB",
  async measure(stage) {
    const cwd = createProject(stage.scratch);
    const paths = writeSessions(cwd, SESSIONS, { entries: 40, bytes: 100_000 });
    const searching = new Series(() => elapsedMs(() => readTexts(paths)));
    const reading = new Series(() => elapsedMs(() => readFiles(paths)));
    await takeTurns([searching, reading], stage.runs(RUNS));
    return [
      {
        name: "search, 1,000 sessions of 100 KB",
        unit: "ms",
        rule: { kind: "ratio" },
        measured: searching.values,
        reference: { name: "reading the files", values: reading.values },
        budget: BUDGET,
      },
    ];
  },
};

async function readFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) readFileSync(path, "utf8");
}

async function readTexts(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const text = await readSessionText(path, { maxCharacters: MAX_CHARACTERS });
    if (text === "") throw new Error(`Nothing was said in ${path}.`);
  }
}
