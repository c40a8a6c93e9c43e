import { setTimeout as wait } from "node:timers/promises";

export interface KilledRunOptions {
  argv: readonly string[];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  /** How long after its first line the run is killed. */
  killAfterMs: number;
}

/** A JSON object of a line of the output. */
export type PrintedLine = Readonly<Record<string, unknown>>;

// A run that says nothing for so long hangs.
const START_LIMIT_MS = 20_000;

/** Starts a run, kills it with SIGKILL at its moment, and returns the lines it had printed whole by then. */
export async function runAndKill({
  argv,
  cwd,
  environment,
  killAfterMs,
}: KilledRunOptions): Promise<PrintedLine[]> {
  const child = Bun.spawn([...argv], {
    cwd,
    env: { ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    detached: true,
    timeout: START_LIMIT_MS,
    killSignal: "SIGKILL",
  });
  const begun = Promise.withResolvers<void>();
  const output = readAll(child.stdout, begun.resolve);
  await Promise.race([begun.promise, child.exited]);
  await Promise.race([wait(killAfterMs), child.exited]);
  child.kill("SIGKILL");
  await child.exited;
  const text = await output;
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

async function readAll(stream: ReadableStream<Uint8Array>, onBegin: () => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    onBegin();
  }
  return text;
}
