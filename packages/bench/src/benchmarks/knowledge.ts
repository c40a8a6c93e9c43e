import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { runProcess } from "../measure/process-run.ts";
import { writeKnowledge } from "../stage/knowledge-file.ts";
import { createProject } from "../stage/project.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 9;
const ENTRIES = 10_000;
const BUDGET_MS = 50;
// What fits into the prompt; far fewer would mean that most of it was passed over.
const LEAST_LINES = 50;
const PROBE = join(import.meta.dir, "..", "probes", "knowledge.ts");

interface ProbeResult {
  readMs: number;
  injectMs: number;
  entries: number;
  lines: number;
}

/** What telling the model what was learned before adds to a start. */
export const knowledge: Benchmark = {
  name: "knowledge",
  about: "ranking 10,000 pieces of knowledge and putting them into the prompt",
  async measure(stage) {
    const project = createProject(stage.scratch);
    writeKnowledge(project, ENTRIES);
    const results: ProbeResult[] = [];
    await probe(stage, project);
    for (let run = 0; run < stage.runs(RUNS); run++) results.push(await probe(stage, project));
    const toFigure = (name: string, measured: number[]): Figure => ({
      name: `knowledge, 10,000 pieces, ${name}`,
      unit: "ms",
      rule: { kind: "amount" },
      measured,
    });
    const ranked = toFigure(
      "ranked and put in",
      results.map(({ injectMs }) => injectMs),
    );
    const read = toFigure(
      "read",
      results.map(({ readMs }) => readMs),
    );
    return [{ ...ranked, budget: BUDGET_MS }, read];
  },
};

/** @throws when not everything was there. */
async function probe(stage: Stage, project: string): Promise<ProbeResult> {
  const argv = [process.execPath, PROBE, project];
  const { stdout } = await runProcess({ argv, cwd: stage.scratch.path, environment: stage.environment() });
  const result: ProbeResult = JSON.parse(stdout);
  const { entries, lines } = result;
  if (entries !== ENTRIES || lines < LEAST_LINES) throw new Error(`${lines} of ${entries} pieces were told.`);
  return result;
}
