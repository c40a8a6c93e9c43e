import { join } from "node:path";
import type { Benchmark, Figure } from "../figure.ts";
import { runProcess } from "../measure/process-run.ts";
import { type CompactedSessionSize, writeCompactedSession, writeKnowledge } from "../stage/session-files.ts";
import { createProject, type Stage } from "../stage/stage.ts";

const COMPACTION_RUNS = 7;
const COMPACTION_BUDGET_MS = 100;
const COMPACTION_ENTRIES = 20_000;
const CONTEXT_TOKENS = 170_000;
/** Sessions of a probe; in the first one, no code is compiled yet. */
const SESSIONS = 3;
const COMPACTION_PROBE = join(import.meta.dir, "..", "probes", "compaction.ts");

const SIZES: Readonly<Record<string, CompactedSessionSize>> = {
  "20 earlier compactions": {
    entries: COMPACTION_ENTRIES,
    compactions: 20,
    stretchTokens: CONTEXT_TOKENS - 11_000,
  },
  "no earlier compaction": { entries: COMPACTION_ENTRIES, compactions: 0, stretchTokens: CONTEXT_TOKENS },
};

interface CompactionProbeResult {
  firstMs: number;
  nextMs: number;
  tokensBefore: number;
}

/** The cost of one compaction of a long session without the model: cutting, transcript, entry, file. */
export const compaction: Benchmark = {
  name: "compaction",
  about: "one compaction of a session of 20,000 entries and 170k tokens, without the model",
  async measure(stage) {
    const figures: Figure[] = [];
    for (const [name, size] of Object.entries(SIZES)) {
      const results: CompactionProbeResult[] = [];
      await probeCompaction(stage, size);
      for (let run = 0; run < stage.runs(COMPACTION_RUNS); run++)
        results.push(await probeCompaction(stage, size));
      const toFigure = (what: string, measured: number[]): Figure => ({
        name: `compaction, ${name}, ${what}`,
        unit: "ms",
        rule: { kind: "amount" },
        measured,
        budget: COMPACTION_BUDGET_MS,
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

/** @throws if the session was smaller than intended: a fast result would mean nothing. */
async function probeCompaction(stage: Stage, size: CompactedSessionSize): Promise<CompactionProbeResult> {
  const project = createProject(stage.scratch);
  for (let index = 0; index < SESSIONS; index++) writeCompactedSession(project, size, index);
  const argv = [process.execPath, COMPACTION_PROBE, project];
  const { stdout } = await runProcess({ argv, cwd: stage.scratch.path, environment: stage.environment() });
  const result: CompactionProbeResult = JSON.parse(stdout);
  if (Math.abs(result.tokensBefore / CONTEXT_TOKENS - 1) > 0.1)
    throw new Error(`The context had ${result.tokensBefore} tokens.`);
  return result;
}

const RECALL_RUNS = 5;
const RECALL_BUDGET_MS = 100;
const RECALL_PROBE = join(import.meta.dir, "..", "probes", "recall.ts");

interface RecallProbeResult {
  times: number[];
  found: number;
  entries: number;
}

/** How long the model waits for a search of what its context no longer shows. */
export const recall: Benchmark = {
  name: "recall",
  about: "searching the hidden part of a session of 20,000 entries",
  async measure(stage) {
    const project = createProject(stage.scratch);
    writeCompactedSession(project, {
      entries: COMPACTION_ENTRIES,
      compactions: 20,
      stretchTokens: CONTEXT_TOKENS - 11_000,
    });
    const measured: number[] = [];
    for (let run = 0; run < stage.runs(RECALL_RUNS); run++) measured.push(await probeRecall(stage, project));
    return [
      {
        name: "recall, 20,000 entries, p95 of 40 searches",
        unit: "ms",
        rule: { kind: "amount" },
        measured,
        budget: RECALL_BUDGET_MS,
      },
    ];
  },
};

/** The 95th percentile of one process, its first search included. @throws if hardly anything was searched. */
async function probeRecall(stage: Stage, project: string): Promise<number> {
  const argv = [process.execPath, RECALL_PROBE, project];
  const { stdout } = await runProcess({ argv, cwd: stage.scratch.path, environment: stage.environment() });
  const { times, found, entries }: RecallProbeResult = JSON.parse(stdout);
  if (entries !== COMPACTION_ENTRIES || found === 0)
    throw new Error(`${found} matches were found in ${entries} entries.`);
  return times.toSorted((left, right) => left - right)[Math.ceil(times.length * 0.95) - 1] ?? 0;
}

const KNOWLEDGE_RUNS = 9;
const KNOWLEDGE_ENTRIES = 10_000;
const KNOWLEDGE_BUDGET_MS = 50;
// What fits into the prompt; far fewer would mean that most records were skipped.
const MIN_LINES = 50;
const KNOWLEDGE_PROBE = join(import.meta.dir, "..", "probes", "knowledge.ts");

interface KnowledgeProbeResult {
  readMs: number;
  injectMs: number;
  entries: number;
  lines: number;
}

/** What the knowledge of earlier sessions adds to a start. */
export const knowledge: Benchmark = {
  name: "knowledge",
  about: "ranking 10,000 knowledge records and adding them to the prompt",
  async measure(stage) {
    const project = createProject(stage.scratch);
    writeKnowledge(project, KNOWLEDGE_ENTRIES);
    const results: KnowledgeProbeResult[] = [];
    await probeKnowledge(stage, project);
    for (let run = 0; run < stage.runs(KNOWLEDGE_RUNS); run++)
      results.push(await probeKnowledge(stage, project));
    const toFigure = (name: string, measured: number[]): Figure => ({
      name: `knowledge, 10,000 pieces, ${name}`,
      unit: "ms",
      rule: { kind: "amount" },
      measured,
    });
    const ranked = toFigure(
      "ranked and added",
      results.map(({ injectMs }) => injectMs),
    );
    const read = toFigure(
      "read",
      results.map(({ readMs }) => readMs),
    );
    return [{ ...ranked, budget: KNOWLEDGE_BUDGET_MS }, read];
  },
};

/** @throws if records are missing. */
async function probeKnowledge(stage: Stage, project: string): Promise<KnowledgeProbeResult> {
  const argv = [process.execPath, KNOWLEDGE_PROBE, project];
  const { stdout } = await runProcess({ argv, cwd: stage.scratch.path, environment: stage.environment() });
  const result: KnowledgeProbeResult = JSON.parse(stdout);
  const { entries, lines } = result;
  if (entries !== KNOWLEDGE_ENTRIES || lines < MIN_LINES)
    throw new Error(`${lines} of ${entries} records are in the prompt.`);
  return result;
}
