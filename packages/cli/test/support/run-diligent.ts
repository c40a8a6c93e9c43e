import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildProgram } from "./built-program.ts";
import { BUN_DIRECTORY } from "./bun-directory.ts";
import type { TemporaryProject } from "./temporary-project.ts";

/** The program as `bun install` links it in a checkout, started by its first line. */
export const CHECKOUT_PROGRAM = join(import.meta.dir, "..", "..", "src", "index.ts");

/** The program as it is shipped, also started by its first line. */
export const PROGRAM = await buildProgram();

/** The same start for an environment without a `bun`: this Bun with the options of the first line. */
export const PROGRAM_BY_PATH = [process.execPath, ...launcherOptions(), PROGRAM];

function launcherOptions(): string[] {
  const [firstLine = ""] = readFileSync(PROGRAM, "utf8").split("\n", 1);
  return firstLine.split(" ").filter((word) => word.startsWith("--"));
}

const NO_BUBBLEWRAP =
  /^Commands run unsandboxed and need approval: bubblewrap \(the program bwrap\) is not installed\. Jobs .*\n/m;

export interface DiligentOptions {
  /** `null`: an open pipe that nobody writes to; default: empty. */
  stdin?: string | null;
  environment?: Record<string, string | undefined>;
  cwd?: string;
  /** What to start instead of the linked program, before the arguments. */
  program?: readonly string[];
  /** Killed after this time; default: 50 s. */
  timeoutMs?: number;
}

export interface DiligentExit {
  stdout: string;
  /** The machine's sandbox is visible only to tests with a PATH of their own. */
  stderr: string;
  exitCode: number;
  durationMs: number;
}

export interface RunningDiligent {
  process: Bun.Subprocess;
  /** Resolves once stdout and stderr together have shown `text`. */
  shown(text: string): Promise<void>;
  ended: Promise<DiligentExit>;
}

/** A user's environment with only what every program needs. */
export function bareEnvironment({ home, temporary }: TemporaryProject): Record<string, string> {
  const path = `${BUN_DIRECTORY}:/usr/local/bin:/usr/bin:/bin`;
  return { PATH: path, HOME: home, TMPDIR: temporary, LANG: "C.UTF-8" };
}

/** Starts the real program in a project and collects its output. */
export function startDiligent(
  place: TemporaryProject,
  args: readonly string[],
  options: DiligentOptions = {},
): RunningDiligent {
  const { stdin = "", timeoutMs = 50_000 } = options;
  const hasOwnPath = (options.environment?.PATH ?? "") !== "";
  const startedAt = performance.now();
  const child = Bun.spawn([...(options.program ?? [PROGRAM]), ...args], {
    cwd: options.cwd ?? place.project,
    env: { ...bareEnvironment(place), ...options.environment },
    stdin: stdin === null ? "pipe" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const stdout = new OutputCollector(child.stdout);
  const stderr = new OutputCollector(child.stderr);
  const ended = Promise.all([child.exited, stdout.done, stderr.done]).then(([exitCode]) => ({
    stdout: stdout.text,
    stderr: hasOwnPath ? stderr.text : stderr.text.replace(NO_BUBBLEWRAP, ""),
    exitCode,
    durationMs: performance.now() - startedAt,
  }));
  const shown = async (text: string) => {
    while (!(stdout.text + stderr.text).includes(text)) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`Ended without showing ${JSON.stringify(text)}: ${stdout.text}${stderr.text}`);
      }
      await Bun.sleep(5);
    }
  };
  return { process: child, shown, ended };
}

/** Runs the real program to its end. */
export function runDiligent(
  place: TemporaryProject,
  args: readonly string[],
  options: DiligentOptions = {},
): Promise<DiligentExit> {
  return startDiligent(place, args, options).ended;
}

/** The objects of an output with one JSON object per line; fails for an invalid line. */
export function parseLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

class OutputCollector {
  text = "";
  readonly done: Promise<void>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.done = this.collect(stream);
  }

  private async collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.text += decoder.decode(chunk, { stream: true });
  }
}
