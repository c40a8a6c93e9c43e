import { sleep } from "../infrastructure/runtime.ts";
import { findSandboxProgram, type SandboxProgram } from "./detect.ts";
import type { SandboxOptions } from "./session-sandbox.ts";

/** A clause saying why commands cannot be sandboxed, and how to fix that, in one line. */
export interface SandboxFailure {
  problem: string;
  remedy?: string | undefined;
}

export type ProbeOptions = Pick<SandboxOptions, "environment" | "root" | "writable" | "directory"> & {
  /** By default, this system. */
  platform?: string | undefined;
  /** The time limit in milliseconds; by default `PROBE_LIMIT_MS`. */
  limitMs?: number;
};

// Creating a sandbox takes a tenth of a second. A hanging trial is abandoned before the user loses patience.
const PROBE_LIMIT_MS = 10_000;

/**
 * Creates a sandbox for this project and runs a command in it that does nothing. Returns the sandbox program, or the
 * problem. Processes that do not end are left to `endAllProcesses`.
 */
export async function probeSandbox({
  limitMs = PROBE_LIMIT_MS,
  ...options
}: ProbeOptions): Promise<SandboxProgram | SandboxFailure> {
  const program = findSandboxProgram(options);
  if ("problem" in program) return withRemedy(program.problem);
  const [{ openBox }, limit] = [await import("./open-sandbox.ts"), new AbortController()];
  const opening = openBox(program, { ...options, mayLeave: true });
  const late = sleep(limitMs, limit.signal).then(() => undefined);
  const opened = await Promise.race([opening, late]);
  limit.abort();
  if (opened === undefined) {
    return {
      problem: `${program.path} did not create a sandbox within ${limitMs / 1_000} s`,
      remedy: TRY_BY_HAND,
    };
  }
  if ("problem" in opened) return withRemedy(opened.problem);
  await opened.box.close();
  return program;
}

const TRY_BY_HAND = "check its output: bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true";

async function withRemedy(reason: string): Promise<SandboxFailure> {
  // A failed start is reported as a sentence.
  const problem = reason.replace(/\.$/, "");
  const { findRemedy } = await import("./detect.ts");
  const remedy = findRemedy(problem);
  return remedy === undefined ? { problem } : { problem, remedy };
}
