import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readSessionFile } from "@diligent/core/sessions";
import { startInPty } from "../../../../cli/test/support/pty-program.ts";
import {
  bareEnvironment,
  PROGRAM,
  type RunningDiligent,
  startDiligent,
} from "../../../../cli/test/support/run-diligent.ts";
import { watchPeakMemory } from "../../measure/process-run.ts";
import { checkChildren, checkNextRequest, checkSession, checkTemporary } from "../aftermath.ts";
import { prepareRandomRuns, savedSessions, startRandomRun, toPrintedLines } from "../disturbed-run.ts";
import { between, type FaultTrial, pick, type TrialStage } from "../trial.ts";

// Longer than most runs of a few turns, so that some of the kills hit the end of a run.
const KILL_LONGEST_RUN_MS = 900;
/** A session is killed this often before the next one begins, so its history becomes more complex. */
const KILLS_PER_SESSION = 3;
const LONG_KILLS = 1_000;

/** Everything shown was saved, the session opens, and a service accepts its next request. */
export const KILL: FaultTrial = {
  name: "kill",
  subject: "program",
  about: "SIGKILL at a random moment of a run, three times per session",
  longRuns: Math.ceil(LONG_KILLS / KILLS_PER_SESSION),
  async run(stage) {
    prepareRandomRuns(stage);
    for (let kill = 0; kill < KILLS_PER_SESSION; kill++) {
      const [sessionId] = savedSessions(stage);
      const run = startRandomRun(stage, sessionId === undefined ? [] : [`--continue=${sessionId}`]);
      await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
      await Promise.race([Bun.sleep(stage.random() * KILL_LONGEST_RUN_MS), run.ended]);
      run.process.kill("SIGKILL");
      const { stdout } = await run.ended;
      await checkSession(stage, toPrintedLines(stdout));
      await checkChildren(stage);
    }
  },
};

const ENTER_PROMPT = "Do what is needed, right now.";
/** The model thinks for longer than any trial takes. */
const NEVER_MS = 600_000;
const LONGEST_WAIT_MS = 60;

/** The screen ends right after Enter: the prompt is not lost, however it ended. */
export const ENTER: FaultTrial = {
  name: "enter",
  subject: "program",
  about: "the screen is killed, signalled or closed right after Enter, before any reply",
  async run(stage) {
    const { place, random, check } = stage;
    place.write("script.json", { version: 1, turns: [{ delayMs: NEVER_MS, text: "never" }] });
    await using program = startInPty(place, ["--model", "scripted/script.json"]);
    await program.waitFor("% context");
    program.send(ENTER_PROMPT);
    await program.waitFor(ENTER_PROMPT);
    program.send("\r");
    // The key has been read once the user sees its effect.
    await program.waitFor("Esc to stop");
    await Bun.sleep(random() * LONGEST_WAIT_MS);
    const end = pick(random, ["SIGKILL", "SIGTERM", "SIGHUP", "close"]);
    if (end === "close") program.process.terminal?.close();
    else program.process.kill(end);
    await program.exitCode;
    const isKilled = end === "SIGKILL";
    check("saved", hasPrompt(stage, { isKilled }) ? undefined : `the prompt is lost after ${end}`);
    await checkNextRequest(stage);
    await checkChildren(stage);
  },
};

/** In the session's file, or at least in the input history if no program could have reacted. */
function hasPrompt({ place }: TrialStage, { isKilled }: { isKilled: boolean }): boolean {
  const sessions = savedSessions({ place }).map((id) =>
    join(place.project, ".diligent", "sessions", `${id}.jsonl`),
  );
  const history = join(place.home, ".local", "state", "diligent", "history.jsonl");
  const places = isKilled ? [...sessions, history] : sessions;
  return places.some((path) => existsSync(path) && readFileSync(path, "utf8").includes(ENTER_PROMPT));
}

const SIGNAL_LONGEST_RUN_MS = 900;
// The promise is two seconds; the rest is for a machine that also runs other programs.
const SIGNAL_LIMIT_MS = 4_000;

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131 } as const;

/** Signals that a program can handle: it ends soon, with the matching exit code, and prints its last line. */
export const SIGNAL: FaultTrial = {
  name: "signal",
  subject: "program",
  about: "SIGINT, SIGTERM, SIGHUP or SIGQUIT at a random moment",
  async run(stage) {
    prepareRandomRuns(stage);
    const run = startRandomRun(stage);
    await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
    await Promise.race([Bun.sleep(stage.random() * SIGNAL_LONGEST_RUN_MS), run.ended]);
    const signal = pick(stage.random, ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]);
    const begin = performance.now();
    run.process.kill(signal);
    const { stdout, exitCode } = await run.ended;
    const tookMs = performance.now() - begin;
    checkTemporary(stage);
    const printed = toPrintedLines(stdout);
    // It may have been about to end anyway.
    const isExpected = exitCode === EXIT_CODES[signal] || exitCode === 0;
    stage.check("patient", tookMs <= SIGNAL_LIMIT_MS ? undefined : `${signal} took ${Math.round(tookMs)} ms`);
    stage.check(
      "patient",
      isExpected && printed.at(-1)?.type === "result"
        ? undefined
        : `${signal}: exit code ${exitCode}, ${stdout.slice(-200)}`,
    );
    await checkSession(stage, printed);
    await checkChildren(stage);
  },
};

const TERMINAL_PROMPT = "Do what is needed.";
const TERMINAL_LONGEST_RUN_MS = 700;
const TERMINAL_LIMIT_MS = 4_000;

/** The window is closed, or the connection lost, while the model works. */
export const TERMINAL: FaultTrial = {
  name: "terminal",
  subject: "program",
  about: "the terminal is closed at a random moment of an interactive run",
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    await using program = startInPty(place, [
      "-m",
      "scripted/script.json",
      "--approval",
      "auto",
      TERMINAL_PROMPT,
    ]);
    // A short run or a slow observer: the prompt may have left the screen before it is seen.
    await program.waitUntil((_, terminal) =>
      terminal.scrollback().some((row) => row.includes(TERMINAL_PROMPT)),
    );
    await Bun.sleep(random() * TERMINAL_LONGEST_RUN_MS);
    const begin = performance.now();
    program.process.terminal?.close();
    await Promise.race([program.exitCode, Bun.sleep(TERMINAL_LIMIT_MS)]);
    const tookMs = performance.now() - begin;
    check("patient", tookMs < TERMINAL_LIMIT_MS ? undefined : "it continues without a terminal");
    checkTemporary(stage);
    const [sessionId] = savedSessions(stage);
    check("saved", sessionId === undefined ? "nothing was saved" : lostPrompt(place.project, sessionId));
    await checkNextRequest(stage);
    await checkChildren(stage);
  },
};

function lostPrompt(project: string, sessionId: string): string | undefined {
  const { entries } = readSessionFile(join(project, ".diligent", "sessions", `${sessionId}.jsonl`));
  const isThere = entries.some((entry) => entry.type === "message" && entry.message.role === "user");
  return isThere ? undefined : `the prompt is not in ${sessionId}`;
}

/** The reader of the output closes it: quiet, exit code 0, and the session is complete. */
export const OUTPUT_CLOSED: FaultTrial = {
  name: "output-closed",
  subject: "program",
  about: "`| head -n N`: stdout is closed after a few lines",
  async run(stage) {
    const { place, random, check } = stage;
    prepareRandomRuns(stage);
    const run = `"$0" -p --approval auto -m scripted/script.json --output-format stream-json --max-turns 4 "Go."`;
    const script = `${run} | head -n ${between(random, 0, 12)} > /dev/null; echo "code \${PIPESTATUS[0]}"`;
    const child = Bun.spawn(["bash", "-c", script, PROGRAM], {
      cwd: place.project,
      env: bareEnvironment(place),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 20_000,
      killSignal: "SIGKILL",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    // If it had already ended by itself, the exit code is that of the limit.
    const isQuiet = /^code (0|3)\n$/.test(stdout) && !/EPIPE|\n\s+at /.test(stderr);
    check("patient", isQuiet ? undefined : `${stdout.trim()}: ${stderr.slice(0, 400)}`);
    await checkNextRequest(stage);
    await checkChildren(stage);
  },
};

/** Commands whose processes fail in every way in which a process can. */
const FAULTS = [
  "kill -SEGV $$",
  "kill -9 $$",
  "kill -STOP $$",
  "ulimit -v 20000; exec head -c 1000000000 /dev/zero | tail -n 1",
  "exec /no/such/program",
  "ulimit -n 3; cat /etc/hostname",
  "trap '' TERM INT HUP; while :; do sleep 0.1; done",
  "setsid sleep 60 & setsid sleep 60 & echo left",
  "(trap '' TERM; sleep 60) & disown; exit 3",
  "exec >&- 2>&-; sleep 0.2",
  "for n in 1 2 3 4 5 6 7 8; do (sleep 60 &) ; done; wait",
  'printf x > /dev/full; cd /; rm -rf "$PWD/no-such-file"',
] as const;
const MAX_CALLS = 3;
/** Less than a hanging command would wait. */
const COMMAND_LIMIT_MS = 300;
/** The program's own limit of open files: enough, without a reserve. */
const FEW_FILES = 48;
const PROCESSES_LIMIT_MS = 20_000;

/**
 * Processes that crash, stop, hang, fork or run out of resources, and the program itself with few files, or
 * suspended.
 */
export const PROCESSES: FaultTrial = {
  name: "processes",
  subject: "program",
  about:
    "commands that crash, stop, hang, detach or starve; few open files; the program suspended during a run",
  async run(stage) {
    const { place, random, check } = stage;
    const turns = Array.from({ length: between(random, 1, MAX_CALLS) }, (_, index) => ({
      toolCalls: Array.from({ length: between(random, 1, 2) }, (_, number) => ({
        name: "bash",
        input: { command: `: ${index}.${number}; ${pick(random, FAULTS)}`, timeout: COMMAND_LIMIT_MS },
      })),
    }));
    place.write("script.json", { version: 1, turns: [...turns, { text: "Done." }] });
    const options = ["-m", "scripted/script.json", "--approval", "auto", "--output-format", "stream-json"];
    const files = random() < 0.4 ? `ulimit -n ${FEW_FILES}; ` : "";
    const run = startDiligent(place, ["-p", ...options, "Go."], {
      program: ["bash", "-c", `${files}exec "$0" "$@"`, PROGRAM],
      timeoutMs: PROCESSES_LIMIT_MS,
    });
    if (random() < 0.4) await suspendBriefly(run, random);
    const { stdout, stderr, exitCode } = await run.ended;
    const printed = toPrintedLines(stdout);
    const isEnded = exitCode === 0 && printed.at(-1)?.result === "Done.";
    check(
      "patient",
      isEnded ? undefined : `exit code ${exitCode}: ${stdout.slice(-300)} ${stderr.slice(0, 300)}`,
    );
    await checkSession(stage, printed);
    await checkChildren(stage);
  },
};

/** Like a laptop that is closed for a moment. */
async function suspendBriefly(run: RunningDiligent, random: () => number): Promise<void> {
  await Promise.race([run.shown("\n"), run.ended]).catch(() => undefined);
  await Promise.race([Bun.sleep(random() * COMMAND_LIMIT_MS), run.ended]);
  run.process.kill("SIGSTOP");
  await Bun.sleep(COMMAND_LIMIT_MS);
  run.process.kill("SIGCONT");
}

const FEW = ["--max-turns", "3"];

/** Several processes continue one session at once: each gets its own branch, no line is truncated or lost. */
export const TOGETHER: FaultTrial = {
  name: "together",
  subject: "program",
  about: "two or five processes at once in one session",
  async run(stage) {
    prepareRandomRuns(stage);
    await startRandomRun(stage, FEW).ended;
    const [sessionId] = savedSessions(stage);
    if (sessionId === undefined) throw new Error("The first run has saved nothing.");
    const count = pick(stage.random, [2, 2, 5]);
    const runs = Array.from(
      { length: count },
      () => startRandomRun(stage, [`--continue=${sessionId}`, ...FEW]).ended,
    );
    const exits = await Promise.all(runs);
    for (const { stdout } of exits) await checkSession(stage, toPrintedLines(stdout));
    const path = join(stage.place.project, ".diligent", "sessions", `${sessionId}.jsonl`);
    stage.check("saved", findTornLine(readFileSync(path, "utf8")));
    await checkChildren(stage);
  },
};

function findTornLine(text: string): string | undefined {
  const torn = text.split("\n").find((line) => line !== "" && !isObject(line));
  return torn === undefined ? undefined : `an invalid line: ${torn.slice(0, 200)}`;
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

const JUMPING_CLOCK = join(import.meta.dir, "..", "jumping-clock.ts");

/** The wall clock jumps back and forth by up to a year during runs: only times are wrong then. */
export const CLOCK: FaultTrial = {
  name: "clock",
  subject: "program",
  about: "a wall clock that jumps by up to a year during a run",
  async run(stage) {
    prepareRandomRuns(stage);
    const seed = String(Math.floor(stage.random() * 1_000_000));
    for (let run = 0; run < 2; run++) {
      const [sessionId] = savedSessions(stage);
      const args = ["--max-turns", "3", ...(sessionId === undefined ? [] : [`--continue=${sessionId}`])];
      const { stdout, stderr, exitCode } = await startRandomRun(stage, args, {
        program: jumpingProgram(),
        environment: { JUMPING_CLOCK_SEED: seed },
      }).ended;
      const printed = toPrintedLines(stdout);
      const isEnded = printed.at(-1)?.type === "result" && [0, 3].includes(exitCode);
      stage.check("patient", isEnded ? undefined : `exit code ${exitCode}: ${stderr.slice(0, 300)}`);
      await checkSession(stage, printed);
    }
  },
};

/** The program from its sources, with our clock loaded before its first line. */
function jumpingProgram(): string[] {
  const program = join(import.meta.dir, "..", "..", "..", "..", "cli", "src", "index.ts");
  return [process.execPath, "--no-env-file", "--config=/dev/null", "--preload", JUMPING_CLOCK, program];
}

// The extra memory of a quiet run is small; 64 MB are promised for any amount of output.
const MAX_EXTRA_MB = 64;

const FLOOD_LIMIT_MS = 1_500;

const FLOODS = [
  "head -c 200000000 /dev/zero | tr '\\0' x",
  "yes | head -c 200000000",
  "seq 1 20000000",
  "timeout 1 cat /dev/urandom",
  "yes",
] as const;

/** A tool prints much more than fits anywhere: memory stays the same, and the cut is marked. */
export const FLOOD: FaultTrial = {
  name: "flood",
  subject: "program",
  about: "a command that prints hundreds of megabytes, in one line or in millions",
  obstacle: () => (process.platform === "linux" ? undefined : "peak memory is read from /proc"),
  async run(stage) {
    const quiet = await measurePeak(stage, "echo quiet");
    const flooded = await measurePeak(stage, pick(stage.random, FLOODS));
    const more = Math.round(flooded.megabytes - quiet.megabytes);
    stage.check("light", more <= MAX_EXTRA_MB ? undefined : `${more} MB more than a quiet run`);
    stage.check("light", flooded.isMarked ? undefined : "the cut is not marked");
    await checkNextRequest(stage);
    await checkChildren(stage);
  },
};

async function measurePeak({ place }: Parameters<FaultTrial["run"]>[0], command: string) {
  const turns = [
    { toolCalls: [{ name: "bash", input: { command, timeout: FLOOD_LIMIT_MS } }] },
    { text: "Done." },
  ];
  place.write("script.json", { version: 1, turns });
  const options = [
    "-p",
    "--approval",
    "auto",
    "-m",
    "scripted/script.json",
    "--output-format",
    "stream-json",
  ];
  const run = startDiligent(place, [...options, "Go."], { timeoutMs: 60_000 });
  const peak = watchPeakMemory(run.process.pid);
  const { stdout } = await run.ended;
  peak.stop();
  return { megabytes: peak.megabytes, isMarked: stdout.includes("omitted here") };
}
