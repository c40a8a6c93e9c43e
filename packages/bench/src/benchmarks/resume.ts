import { statSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { runProcess } from "../measure/process-run.ts";
import { createProject } from "../stage/project.ts";
import { writeSessions } from "../stage/session-files.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 7;
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

/** How long a very long session takes to be gone on with, and the memory that this takes. */
export const resume: Benchmark = {
  name: "resume",
  about: "a session of 100 MB and 20,000 entries, resumed",
  async measure(stage) {
    const project = createProject(stage.scratch);
    const [file = ""] = writeSessions(project, 1, { entries: ENTRIES, bytes: BYTES });
    const results: ProbeResult[] = [];
    await probe(stage, project);
    for (let run = 0; run < stage.runs(RUNS); run++) results.push(await probe(stage, project));
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
  if (result.messages !== ENTRIES) throw new Error(`The context holds ${result.messages} messages.`);
  return result;
}
