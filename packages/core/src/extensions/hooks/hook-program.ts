import { existsSync } from "node:fs";
import type { SessionScope } from "../../harness/types.ts";
import { createChildEnvironment, resolveExecutable } from "../../infrastructure/process/environment.ts";
import { type ChildProcess, startProcess } from "../../infrastructure/process/process.ts";
import { sleep } from "../../infrastructure/runtime.ts";
import { PLUGIN_ROOT_VARIABLE } from "../definitions/plugin.ts";
import type { ProgramEnd, RunHookProgram } from "./run-hook.ts";

// More is not useful to a model, and is drained without being kept.
const MAX_OUTPUT_BYTES = 64 * 1024;
// What was written before the end is read by then, unless a process in the background holds the output open.
const LAST_OUTPUT_MS = 500;

/** Runs hooks as commands of the session: in its sandbox, without keys, and to the end with everything they start. */
export function createHookRunner(
  scope: SessionScope,
  inherited: readonly string[] | undefined,
): RunHookProgram {
  return async (command, { input, timeoutMs, signal, pluginRoot }) => {
    const { environment, root, sessionId } = scope;
    const cwd = existsSync(scope.cwd) ? scope.cwd : "/";
    const shell = resolveExecutable("bash", { environment, outside: root }) ?? "/bin/sh";
    const plain = {
      argv: [shell, "-c", command],
      cwd,
      environment: {
        ...createChildEnvironment({ environment, inheritEnvironment: inherited, sessionId, root, cwd }),
        CLAUDE_PROJECT_DIR: root,
        DILIGENT_PROJECT_DIR: root,
        ...(pluginRoot !== undefined && { [PLUGIN_ROOT_VARIABLE]: pluginRoot }),
      },
    };
    const state = await scope.sandboxState?.();
    if (state?.kind === "refused") throw new Error(`it may only run in a sandbox, and ${state.problem}`);
    if (state?.kind !== "boxed") scope.traffic?.addUnseen({ purpose: "hook", command });
    const wrapped = state?.kind === "boxed" ? await state.wrapper.wrapCommand(plain) : undefined;
    const options = wrapped ? { ...plain, ...wrapped } : plain;
    const child = await startProcess({ ...options, hasInput: true, hasSeparateOutputs: true });
    try {
      return await waitForEnd(child, { input, timeoutMs, signal });
    } finally {
      wrapped?.finish({ survivors: child.hasSurvivors(), gone: child.gone });
    }
  };
}

async function waitForEnd(
  child: ChildProcess,
  { input, timeoutMs, signal }: { input: string; timeoutMs: number; signal: AbortSignal },
): Promise<ProgramEnd> {
  const [stdout, stderr] = child.outputs.map((stream) => new BoundedReader(stream));
  void write(child, input);
  const over = new AbortController();
  const limit = sleep(timeoutMs, AbortSignal.any([signal, over.signal])).then(() => "limit" as const);
  const ended = await Promise.race([child.exited, limit]);
  over.abort();
  // What it has left in the background ends with it.
  if (ended === "limit" || child.hasSurvivors()) await child.end();
  const exit = await Promise.race([child.exited, sleep(LAST_OUTPUT_MS).then(() => undefined)]);
  await Promise.race([Promise.all([stdout?.done, stderr?.done]), sleep(LAST_OUTPUT_MS)]);
  child.closeOutputs();
  return {
    exitCode: exit?.exitCode ?? null,
    isTimeout: ended === "limit" && !signal.aborted,
    stdout: stdout?.text() ?? "",
    stderr: stderr?.text() ?? "",
  };
}

/** A hook need not read its input. */
async function write({ input }: ChildProcess, text: string): Promise<void> {
  try {
    await input?.write(text);
    await input?.end();
  } catch {
    // It has ended, or closed its stdin.
  }
}

/** Reads a stream to its end and keeps the beginning. */
class BoundedReader {
  readonly done: Promise<void>;
  private readonly chunks: Uint8Array[] = [];
  private bytes = 0;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.done = this.read(stream).catch(() => {});
  }

  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.chunks).subarray(0, MAX_OUTPUT_BYTES));
  }

  private async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of stream) {
      if (this.bytes < MAX_OUTPUT_BYTES) this.chunks.push(chunk.slice());
      this.bytes += chunk.length;
    }
  }
}
