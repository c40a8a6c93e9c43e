import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionManager } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { holdLongSession, type LongSessionOptions } from "../../../core/test/support/long-session.ts";
import { forgetCountedTexts } from "../../../core/test/support/token-counting.ts";
import { readCpuSeconds, readSleeps, signalGroup, watchGroup } from "../measure/process-run.ts";
import {
  askForLargeResults,
  createLargeTurns,
  LAST_WORD,
  LONG_TRANSCRIPT,
  largeCall,
  restBriefly,
  TURNS_PER_PROMPT,
} from "../stage/answers.ts";
import { askUntil, openScreen, type ScriptedTurn } from "../stage/program-runs.ts";
import { createProject, type Scratch, type Stage } from "../stage/stage.ts";
import {
  evaluateSoak,
  type IdleSoak,
  type MeasuredHeap,
  type ProcessSample,
  type ProcessSoak,
  type SoakVerdict,
  sampleProcess,
  WARM_TURNS,
} from "./evaluate.ts";

const LOSES_FOCUS = "\x1b[O";

/** Observes an idle process. */
async function watchIdle(pid: number, seconds: number): Promise<IdleSoak> {
  const [before, beginSeconds, beginSleeps] = [sampleProcess(pid), readCpuSeconds(pid), readSleeps(pid)];
  await Bun.sleep(seconds * 1000);
  const [cpuSeconds, wakes] = [readCpuSeconds(pid) - beginSeconds, readSleeps(pid) - beginSleeps];
  return { seconds, cpuSeconds, wakes, before, after: sampleProcess(pid) };
}

/** The interactive screen below a long transcript, while nobody types; in a visible or a hidden window. */
export async function soakIdleScreen(
  stage: Stage,
  seconds: number,
  { isHidden }: { isHidden: boolean },
): Promise<IdleSoak> {
  const [, program] = await stage.programs();
  const timeLimitMs = (seconds + 120) * 1000;
  await using run = await openScreen(stage, { program, turns: [LONG_TRANSCRIPT], timeLimitMs });
  await askUntil(run, "Tell me all.", LAST_WORD);
  if (isHidden) run.type(LOSES_FOCUS);
  await restBriefly(run);
  return await watchIdle(run.pid, seconds);
}

// After such a long wait, the runtime has cleaned up everything before it.
const SETTLE_MS = 2_500;
const REST_SECONDS = 4;
// Below the time limit of a command.
const MAX_SECONDS_PER_WAIT = 90;

/** Print mode over this many turns with results of 50 KB, in one run. */
export async function soakPrint(stage: Stage, turns: number): Promise<ProcessSoak> {
  const { summaries } = createLargeTurns(turns);
  const rests = [WARM_TURNS, turns];
  const script = Array.from({ length: turns + 1 }, (_, turn) => [
    ...(rests.includes(turn) ? [wait(REST_SECONDS, turn)] : []),
    turn < turns ? { text: `I look, ${turn}.`, toolCalls: [largeCall(turn)] } : { text: "Done." },
  ]).flat();
  await using run = await startPrintedRun(stage, { turns: script, summaries });
  const { samples, turnMs } = await follow(run, rests);
  const [early, late] = samples;
  if (!early || !late || (await run.ended) !== 0)
    throw new Error(`The run ended after ${turnMs.length} turns.`);
  return { early, late, turnMs, warm: WARM_TURNS };
}

/** The time of each turn with a large result, and the program's resources in each pause. */
async function follow(run: PrintedRun, rests: readonly number[]) {
  const samples: ProcessSample[] = [];
  const turnMs: number[] = [];
  let begin = performance.now();
  let isPaused = false;
  for await (const type of run.events()) {
    if (type === "turn_start") {
      begin = performance.now();
      isPaused = turnMs.length === rests[samples.length];
    } else if (type === "tool_start" && isPaused) {
      await Bun.sleep(SETTLE_MS);
      samples.push(sampleProcess(run.pid));
    } else if (type === "turn_end" && !isPaused) {
      turnMs.push(performance.now() - begin);
    }
  }
  // The last one has no call.
  return { samples, turnMs: turnMs.slice(0, -1) };
}

/** Print mode while it waits for a long command. */
export async function soakIdlePrint(stage: Stage, seconds: number): Promise<IdleSoak> {
  const waits = Math.ceil((seconds + REST_SECONDS) / MAX_SECONDS_PER_WAIT);
  const turns = Array.from({ length: waits }, (_, number) =>
    wait(Math.min(seconds + REST_SECONDS, MAX_SECONDS_PER_WAIT), number),
  );
  await using run = await startPrintedRun(stage, { turns: [...turns, { text: "Done." }], summaries: [] });
  for await (const type of run.events()) {
    if (type !== "tool_start") continue;
    await Bun.sleep(SETTLE_MS);
    return await watchIdle(run.pid, seconds);
  }
  throw new Error("The run ended before it waited.");
}

/** No two alike, so that they do not look like a loop. */
function wait(seconds: number, number: number) {
  const command = `sleep ${seconds} # ${number}`;
  return { text: "I wait.", toolCalls: [{ name: "bash", input: { command } }] };
}

// Far more than a turn takes here, to end a program that hangs.
const MAX_MS_PER_TURN = 1_000;

/** The interactive screen in a terminal, over this many turns with results of 50 KB. */
export async function soakScreen(stage: Stage, turns: number): Promise<ProcessSoak> {
  const [, program] = await stage.programs();
  const options = { program, ...createLargeTurns(turns), timeLimitMs: 60_000 + turns * MAX_MS_PER_TURN };
  await using run = await openScreen(stage, options);
  const sample = async () => {
    await restBriefly(run);
    return sampleProcess(run.pid);
  };
  const warm = WARM_TURNS / TURNS_PER_PROMPT;
  const turnMs: number[] = [];
  let early = await sample();
  for (let prompt = 0; prompt < turns / TURNS_PER_PROMPT; prompt++) {
    turnMs.push((await askForLargeResults(run, prompt)) / TURNS_PER_PROMPT);
    if (prompt + 1 === warm) early = await sample();
  }
  return { early, late: await sample(), turnMs, warm };
}

type SoakOptions = Pick<LongSessionOptions, "kind" | "turns" | "seed"> & { contextWindow: number };

/** Runs a session in this process to its end. @throws Error if it does not get there. */
export async function soakSession(options: SoakOptions, scratch: Scratch): Promise<SoakVerdict> {
  const { turns, contextWindow } = options;
  const early = Math.floor(turns / 4);
  const heaps = new Map<number, MeasuredHeap>();
  let path: string | undefined;
  const onTurn = (turn: number, session: SessionManager) => {
    if (turn === early || turn === turns) heaps.set(turn, measureHeap(turn, session));
    path = session.sessionPath;
  };
  const report = await holdLongSession({ ...options, project: scratch.makeDirectory("soak"), onTurn });
  const [first, last] = [heaps.get(early), heaps.get(turns)];
  if (!first || !last || path === undefined) throw new Error(`The session ended before turn ${turns}.`);
  const prunings = readSessionFile(path).entries.filter(({ type }) => type === "prune").length;
  return evaluateSoak({ report, prunings, heaps: [first, last], contextWindow });
}

/** `diligent -p` with a script, and its events as they arrive. */
interface PrintedRun extends AsyncDisposable {
  pid: number;
  /** The types of its events, one after the other, until it ends. */
  events(): AsyncGenerator<string>;
  /** How it ended. */
  ended: Promise<number>;
}

/** @param script the replies of the model; all their calls are allowed. */
async function startPrintedRun(
  stage: Stage,
  script: { turns: readonly ScriptedTurn[]; summaries: readonly ScriptedTurn[] },
): Promise<PrintedRun> {
  const [, program] = await stage.programs();
  const path = join(stage.scratch.makeDirectory("script"), "script.json");
  writeFileSync(path, JSON.stringify({ version: 1, ...script }));
  const options = ["--approval", "auto", "--model", `scripted/${path}`, "--output-format", "stream-json"];
  const child = Bun.spawn([program.path, "-p", ...options, "Do what is needed."], {
    cwd: createProject(stage.scratch),
    env: stage.environment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    detached: true,
  });
  const unwatch = watchGroup(child.pid);
  return {
    pid: child.pid,
    events: () => readTypes(child.stdout),
    ended: child.exited,
    async [Symbol.asyncDispose]() {
      signalGroup(child.pid, "SIGKILL");
      await child.exited;
      unwatch();
    },
  };
}

// The beginning of a line of 50 KB shows what it is.
const TYPE = /^\{"type":"([a-z_]+)"/;

async function* readTypes(output: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open = "";
  for await (const bytes of output) {
    const lines = (open + decoder.decode(bytes, { stream: true })).split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) yield TYPE.exec(line)?.[1] ?? "unknown";
  }
}

// A value left on the stack may keep others alive: the smallest of a few is closest to the real usage.
const ATTEMPTS = 4;
const PROBE = join(import.meta.dir, "..", "probes", "entries.ts");

/** Measures the current usage; the session is flushed, since its entries are measured from its file. */
function measureHeap(turn: number, session: SessionManager): MeasuredHeap {
  forgetCountedTexts();
  session.flush();
  const attempts = Array.from({ length: ATTEMPTS }, () => {
    Bun.gc(true);
    return process.memoryUsage().heapUsed / 1024 / 1024;
  });
  return { turn, all: Math.min(...attempts), log: entriesMegabytes(session.sessionPath) };
}

/** @throws if the file cannot be read. */
function entriesMegabytes(path: string | undefined): number {
  if (path === undefined) return 0;
  const { stdout, stderr, success } = Bun.spawnSync([process.execPath, PROBE, path]);
  if (!success) throw new Error(`The session could not be read again: ${stderr.toString()}`);
  return Number(stdout.toString());
}
