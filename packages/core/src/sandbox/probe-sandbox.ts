import { sleep } from "../infrastructure/clock.ts";
import { findSandboxProgram, type SandboxProgram } from "./find-sandbox.ts";
import type { SandboxOptions } from "./session-sandbox.ts";

/** Half a sentence why commands cannot be kept in a box, and what could be done about it, a line. */
export interface SandboxFailure {
  problem: string;
  remedy?: string | undefined;
}

export type ProbeOptions = Pick<SandboxOptions, "environment" | "root" | "writable" | "directory"> & {
  /** This one when left out. */
  platform?: string | undefined;
  /** After so long it counts as failed; `PROBE_LIMIT_MS` when left out. */
  limitMs?: number;
};

// A box takes a tenth of a second. What hangs is given up before somebody gives up on it.
const PROBE_LIMIT_MS = 10_000;

/**
 * Makes the box that a session in this project would have, runs a command in it that does nothing, and tells the program
 * by which it was made, or what is missing. What was started and does not end is left to `endAllProcesses`.
 */
export async function probeSandbox({
  limitMs = PROBE_LIMIT_MS,
  ...options
}: ProbeOptions): Promise<SandboxProgram | SandboxFailure> {
  const program = findSandboxProgram(options);
  if ("problem" in program) return withRemedy(program.problem);
  const [{ openBox }, limit] = [await import("./open-box.ts"), new AbortController()];
  const opening = openBox(program, { ...options, mayLeave: true });
  const late = sleep(limitMs, limit.signal).then(() => undefined);
  const opened = await Promise.race([opening, late]);
  limit.abort();
  if (opened === undefined) {
    return { problem: `${program.path} did not make a box within ${limitMs / 1_000} s`, remedy: TRY_BY_HAND };
  }
  if ("problem" in opened) return withRemedy(opened.problem);
  await opened.box.close();
  return program;
}

const TRY_BY_HAND = "see what it says: bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true";

async function withRemedy(reason: string): Promise<SandboxFailure> {
  // What could not be started is told in a sentence.
  const problem = reason.replace(/\.$/, "");
  const { findRemedy } = await import("./find-remedy.ts");
  const remedy = findRemedy(problem);
  return remedy === undefined ? { problem } : { problem, remedy };
}
