import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { runProcess } from "../measure/process-run.ts";
import { type CompactedSessionSize, writeCompactedSession } from "../stage/compacted-session.ts";
import { createProject } from "../stage/project.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 7;
const BUDGET_MS = 100;
const ENTRIES = 20_000;
const CONTEXT_TOKENS = 170_000;
/** Sessions of a probe: the first one finds nothing compiled. */
const SESSIONS = 3;
const PROBE = join(import.meta.dir, "..", "probes", "compaction.ts");

const SIZES: Readonly<Record<string, CompactedSessionSize>> = {
  "20 earlier ones": { entries: ENTRIES, compactions: 20, stretchTokens: CONTEXT_TOKENS - 11_000 },
  "none before": { entries: ENTRIES, compactions: 0, stretchTokens: CONTEXT_TOKENS },
};

interface ProbeResult {
  firstMs: number;
  nextMs: number;
  tokensBefore: number;
}

/** What one compaction of a long session takes besides the model: cutting, transcript, entry, file. */
export const compaction: Benchmark = {
  name: "compaction",
  about: "one compaction of a session of 20,000 entries and 170k tokens, without the model",
  async measure(stage) {
    const figures: Figure[] = [];
    for (const [name, size] of Object.entries(SIZES)) {
      const results: ProbeResult[] = [];
      await probe(stage, size);
      for (let run = 0; run < stage.runs(RUNS); run++) results.push(await probe(stage, size));
      const toFigure = (what: string, measured: number[]): Figure => ({
        name: `compaction, ${name}, ${what}`,
        unit: "ms",
        rule: { kind: "amount" },
        measured,
        budget: BUDGET_MS,
      });
      figures.push(
        toFigure(
          "first in a process",
          results.map(({ firstMs }) => firstMs),
        ),
        toFigure(
          "later",
          results.map(({ nextMs }) => nextMs),
        ),
      );
    }
    return figures;
  },
};

/** @throws when the session was not as large as it is meant to be: what is quick then says nothing. */
async function probe(stage: Stage, size: CompactedSessionSize): Promise<ProbeResult> {
  const project = createProject(stage.scratch);
  for (let index = 0; index < SESSIONS; index++) writeCompactedSession(project, size, index);
  const argv = [process.execPath, PROBE, project];
  const { stdout } = await runProcess({ argv, cwd: stage.scratch.path, environment: stage.environment() });
  const result: ProbeResult = JSON.parse(stdout);
  if (Math.abs(result.tokensBefore / CONTEXT_TOKENS - 1) > 0.1)
    throw new Error(`The context held ${result.tokensBefore} tokens.`);
  return result;
}
