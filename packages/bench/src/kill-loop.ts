import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolvePaths, type SessionEntry } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { createRandom } from "../../core/test/support/fuzzed-history.ts";
import { findLost, isFinished } from "./kill/find-lost.ts";
import { type PrintedLine, runAndKill } from "./kill/killed-run.ts";
import { findInvalidRequest } from "./kill/next-request.ts";
import { createRandomScript } from "./kill/random-script.ts";
import { parseSeededRuns } from "./seeded-runs.ts";
import { createProject } from "./stage/project.ts";
import { Stage } from "./stage/stage.ts";

// Kills a running `diligent -p` with SIGKILL at random moments, again and again, and looks at what is left: whether the
// session opens, whether it holds everything that had been shown as finished, and whether a service would take its next
// request. Exit code 1 when one of them is not so.

const USUAL_RUNS = 200;
/** A session is killed so often before the next one begins; its history gets more and more interesting. */
const KILLS_A_SESSION = 6;
// Longer than most runs of a few turns, so that a part of the kills meets the end of a run.
const LONGEST_RUN_MS = 900;

interface Findings {
  lost: string[];
  unopened: string[];
  invalid: string[];
  /** Messages and results that had been shown as finished. */
  finished: number;
  /** Runs that were killed before anything was finished. */
  early: number;
}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const { runs, seed } = parseSeededRuns(argv, USUAL_RUNS);
  using stage = new Stage();
  const random = createRandom(seed);
  const findings: Findings = { lost: [], unopened: [], invalid: [], finished: 0, early: 0 };
  for (let done = 0; done < runs; done += KILLS_A_SESSION) {
    await killSession(stage, random, { findings, kills: Math.min(KILLS_A_SESSION, runs - done) });
    process.stderr.write(`\r${Math.min(runs, done + KILLS_A_SESSION)} of ${runs} runs killed `);
  }
  const { lost, unopened, invalid, finished, early } = findings;
  console.log(
    `\n${runs} runs killed (seed ${seed}), ${early} of them before anything was finished; ${finished} messages and results had been shown.`,
  );
  console.log(`lost: ${lost.length}, unopened: ${unopened.length}, invalid next requests: ${invalid.length}`);
  for (const problem of [...lost, ...unopened, ...invalid]) console.log(problem.slice(0, 500));
  return lost.length + unopened.length + invalid.length === 0 ? 0 : 1;
}

async function killSession(
  stage: Stage,
  random: () => number,
  { findings, kills }: { findings: Findings; kills: number },
): Promise<void> {
  const cwd = createProject(stage.scratch);
  writeFileSync(join(cwd, "script.json"), JSON.stringify(createRandomScript(random)));
  let sessionId: string | undefined;
  for (let kill = 0; kill < kills; kill++) {
    const printed = await killRun(stage, { cwd, sessionId, killAfterMs: random() * LONGEST_RUN_MS });
    const id = sessionId ?? idOf(printed);
    const found = id === undefined ? undefined : inspect(cwd, id, { printed, findings });
    // Nothing was saved: the next run begins a new session.
    if (id === undefined || found === undefined) continue;
    sessionId = id;
    const service = kill % 2 === 0 ? "anthropic" : "openai";
    const place = { cwd, environment: stage.environment(), program: stage.checkout.path };
    findings.invalid.push(...(await findInvalidRequest({ ...place, sessionId, service })));
  }
}

function killRun(
  stage: Stage,
  { cwd, sessionId, killAfterMs }: { cwd: string; sessionId: string | undefined; killAfterMs: number },
): Promise<PrintedLine[]> {
  const resumption = sessionId === undefined ? [] : [`--continue=${sessionId}`];
  const options = ["--model", "scripted/script.json", "--approval", "auto", "--output-format", "stream-json"];
  const argv = [stage.checkout.path, "-p", ...options, ...resumption, "Do what is needed."];
  return runAndKill({ argv, cwd, environment: stage.environment(), killAfterMs });
}

function idOf(printed: readonly PrintedLine[]): string | undefined {
  const [first] = printed;
  return typeof first?.sessionId === "string" ? first.sessionId : undefined;
}

/** The session's entries; undefined when there is no file, which is right as long as nothing was finished. */
function inspect(
  cwd: string,
  id: string,
  { printed, findings }: { printed: readonly PrintedLine[]; findings: Findings },
): readonly SessionEntry[] | undefined {
  const path = join(resolvePaths(cwd).sessions, `${id}.jsonl`);
  const finished = printed.filter(isFinished).length;
  findings.finished += finished;
  if (finished === 0) findings.early++;
  findings.invalid.push(...printed.flatMap(refusalOf));
  if (!existsSync(path)) {
    findings.lost.push(...findLost(printed, []));
    return undefined;
  }
  try {
    const { entries } = readSessionFile(path);
    findings.lost.push(...findLost(printed, entries));
    return entries;
  } catch (error) {
    findings.unopened.push(String(error));
    return undefined;
  }
}

/** What the scripted provider, which is as strict as the services, said against the request of the killed run. */
function refusalOf({ type, error }: PrintedLine): string[] {
  const text = JSON.stringify(error ?? "");
  return type === "error" && text.includes("refuses this request") ? [text] : [];
}
