import { type EvidenceReport, holdEvidenceSession } from "../../core/test/support/evidence-session.ts";
import { createRandom } from "../../core/test/support/fuzzed-history.ts";
import { holdRetentionSession, type RetentionReport } from "../../core/test/support/retention-session.ts";
import { parseSeededRuns, runBenchScript } from "./arguments.ts";
import { chooseMisbehaviours, evaluateRetention } from "./retention/evaluate.ts";
import { Scratch } from "./stage/stage.ts";

// Plants facts and constraints in sessions that are compacted three times by a summarizer that misbehaves,
// and checks what is left of them in the requests. Exit code 1 if something that the user said, or a file,
// was lost.

const USUAL_RUNS = 12;
const SHOWN_PROBLEMS = 20;

await runBenchScript({
  name: "retention",
  help: {
    usage: ["bun run retention [--runs N] [--seed N]"],
    choices: [],
    notes: [
      `--runs N runs N sessions (default ${USUAL_RUNS}).`,
      "Exit code 1: something was lost that must stay.",
    ],
  },
  main,
});

async function main(argv: readonly string[]): Promise<number> {
  const { runs, seed } = parseSeededRuns(argv, USUAL_RUNS);
  using scratch = new Scratch();
  const random = createRandom(seed);
  const reports: RetentionReport[] = [];
  for (let run = 0; run < runs; run++) {
    const report = await holdRetentionSession({
      project: scratch.makeDirectory("retention"),
      seed: seed + run,
      service: run % 2 === 0 ? "anthropic" : "openai",
      behaviours: chooseMisbehaviours(run, random),
    });
    reports.push(report);
    process.stderr.write(`\r${run + 1} of ${runs} sessions done `);
  }
  const evidence: EvidenceReport[] = [];
  const faithful: RetentionReport[] = [];
  for (const service of ["anthropic", "openai"] as const) {
    evidence.push(await holdEvidenceSession(scratch.makeDirectory("evidence"), service));
    const project = scratch.makeDirectory("faithful");
    faithful.push(await holdRetentionSession({ project, seed, service, behaviours: ["faithful"] }));
  }
  const { lines, problems } = evaluateRetention({ reports, evidence, faithful });
  console.log(`\nseed ${seed}: ${lines.join("\n")}`);
  for (const problem of problems.slice(0, SHOWN_PROBLEMS)) console.log(problem.slice(0, 500));
  return problems.length === 0 ? 0 : 1;
}
