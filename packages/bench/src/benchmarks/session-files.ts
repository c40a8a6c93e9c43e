import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { generateEntryId } from "@diligent/core/run";
import { DeferredWriter, readSessionText } from "@diligent/core/sessions";
import type { Benchmark, Figure } from "../figure.ts";
import { runProcess } from "../measure/process-run.ts";
import { elapsedMs, Series, takeTurns } from "../measure/statistics.ts";
import { wholeProcess } from "../stage/program-runs.ts";
import { toMessage, writeSessions } from "../stage/session-files.ts";
import { createProject, type Stage } from "../stage/stage.ts";

const APPEND_RUNS = 15;
const APPENDS = 10_000;
// One append is shorter than the clock's resolution, so this many are timed together.
const TIMED = 200;
const OUTPUT = "a line of a tool's output\n".repeat(40);
const BUDGET_RATIO = 1.5;
const APPEND_BUDGET_MS = 0.05;

/**
 * The cost of adding an entry to a session file, at its beginning and after 10,000 others, without waiting
 * for the disk.
 */
export const append: Benchmark = {
  name: "append",
  about: "adding an entry to a session, the 10,000th compared with the first",
  async measure(stage) {
    const first: number[] = [];
    const last: number[] = [];
    for (let run = 0; run <= stage.runs(APPEND_RUNS); run++) {
      const { firstMs, lastMs } = fillSession(stage);
      // The first run is a warm-up.
      if (run === 0) continue;
      first.push(firstMs);
      last.push(lastMs);
    }
    const figures: Figure[] = [
      {
        name: "append, the 10,000th entry",
        unit: "ms",
        rule: { kind: "ratio" },
        measured: last,
        reference: { name: "the first", values: first },
        budget: BUDGET_RATIO,
      },
      {
        name: "append, one entry",
        unit: "ms",
        rule: { kind: "amount" },
        measured: last,
        budget: APPEND_BUDGET_MS,
      },
    ];
    return figures;
  },
};

/** Milliseconds per append, at the beginning and at the end. */
function fillSession(stage: Stage): { firstMs: number; lastMs: number } {
  const directory = join(stage.scratch.makeDirectory("append"));
  const writer = new DeferredWriter(directory, directory);
  appendEntries(writer, 4);
  const firstMs = appendEntries(writer, TIMED);
  appendEntries(writer, APPENDS - 2 * TIMED);
  const lastMs = appendEntries(writer, TIMED);
  writer.close();
  return { firstMs, lastMs };
}

function appendEntries(writer: DeferredWriter, count: number): number {
  const timestamp = new Date(0).toISOString();
  const begin = performance.now();
  for (let number = 0; number < count; number++) {
    const message = toMessage(number, OUTPUT);
    writer.write({ type: "message", id: generateEntryId(), parentId: null, timestamp, message });
  }
  return (performance.now() - begin) / count;
}

const RESUME_RUNS = 7;
const ENTRIES = 20_000;
const BYTES = 100_000_000;
const BUDGET_SECONDS = 2;
const BUDGET_CONTEXT_MS = 50;
const BUDGET_MEMORY = 3;
const PROBE = join(import.meta.dir, "..", "probes", "resume.ts");

interface ProbeResult {
  resumeMs: number;
  contextMs: number;
  messages: number;
  peakMegabytes: number;
}

/** The time to resume a very long session, and the memory that this takes. */
export const resume: Benchmark = {
  name: "resume",
  about: "resuming a session of 100 MB and 20,000 entries",
  async measure(stage) {
    const project = createProject(stage.scratch);
    const [file = ""] = writeSessions(project, 1, { entries: ENTRIES, bytes: BYTES });
    const results: ProbeResult[] = [];
    await probe(stage, project);
    for (let run = 0; run < stage.runs(RESUME_RUNS); run++) results.push(await probe(stage, project));
    return toFigures(results, statSync(file).size / 1024 / 1024);
  },
};

function toFigures(results: readonly ProbeResult[], fileMegabytes: number): Figure[] {
  return [
    {
      name: "resume, 100 MB",
      unit: "s",
      rule: { kind: "amount" },
      measured: results.map(({ resumeMs }) => resumeMs / 1000),
      budget: BUDGET_SECONDS,
    },
    {
      name: "resume, 100 MB, memory",
      unit: "MB",
      rule: { kind: "ratio" },
      measured: results.map(({ peakMegabytes }) => peakMegabytes),
      reference: { name: "the file", values: [fileMegabytes] },
      budget: BUDGET_MEMORY,
    },
    {
      name: "context of 20,000 entries",
      unit: "ms",
      rule: { kind: "amount" },
      measured: results.map(({ contextMs }) => contextMs),
      budget: BUDGET_CONTEXT_MS,
    },
  ];
}

async function probe(stage: Stage, project: string): Promise<ProbeResult> {
  const argv = [process.execPath, PROBE, project];
  const { stdout } = await runProcess({ argv, cwd: stage.scratch.path, environment: stage.environment() });
  const result: ProbeResult = JSON.parse(stdout);
  if (result.messages !== ENTRIES) throw new Error(`The context has ${result.messages} messages.`);
  return result;
}

const LIST_RUNS = 15;
const LIST_SESSIONS = 1000;
const LIST_BUDGET_MS = 300;

/** `--list` in a project with very many sessions: the whole process, from start to end. */
export const list: Benchmark = {
  name: "list",
  about: "--list of 1,000 sessions of 100 KB",
  async measure(stage) {
    const cwd = createProject(stage.scratch);
    writeSessions(cwd, LIST_SESSIONS, { entries: 40, bytes: 100_000 });
    const environment = stage.environment();
    const argv = [stage.checkout.path, "--list"];
    const listing = new Series(async () => {
      const { wallMs, stdout } = await runProcess({ argv, cwd, environment });
      if (stdout.split("\n").length !== LIST_SESSIONS + 2) throw new Error("Not all sessions were listed.");
      return wallMs;
    });
    const empty = wholeProcess(stage, [stage.emptyScript]);
    await takeTurns([listing, empty], stage.runs(LIST_RUNS));
    return [
      {
        name: "list, 1,000 sessions of 100 KB",
        unit: "ms",
        rule: { kind: "amount" },
        measured: listing.values,
        reference: { name: "empty script", values: empty.values },
        budget: LIST_BUDGET_MS,
      },
    ];
  },
};

const SEARCH_RUNS = 9;
const SEARCH_SESSIONS = 1000;
// As much of a session as `/resume` searches.
const MAX_CHARACTERS = 200_000;
const BUDGET = 5;

/** What `/resume` does once to search messages: reading the text of very many sessions. */
export const search: Benchmark = {
  name: "search",
  about: "reading the messages of 1,000 sessions of 100 KB",
  async measure(stage) {
    const cwd = createProject(stage.scratch);
    const paths = writeSessions(cwd, SEARCH_SESSIONS, { entries: 40, bytes: 100_000 });
    const searching = new Series(() => elapsedMs(() => readTexts(paths)));
    const reading = new Series(() => elapsedMs(() => readFiles(paths)));
    await takeTurns([searching, reading], stage.runs(SEARCH_RUNS));
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
    if (text === "") throw new Error(`There are no messages in ${path}.`);
  }
}
