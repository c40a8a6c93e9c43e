import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { monotonicMs } from "../runtime.ts";

/** What a task may use. */
export interface TaskLimits {
  timeoutMs: number;
  /** By how much the memory of the process may grow meanwhile. */
  maxMemoryBytes: number;
  /** Ends the task. */
  signal?: AbortSignal | undefined;
}

/** A task has exceeded a limit, or was stopped; the message is a clause. */
export class TaskLimitError extends Error {}

const MEMORY_CHECK_MS = 20;

/**
 * Runs the task of a module on a thread of its own: input that others have written can make a library spend any amount
 * of time and memory, and only a thread can be ended then.
 *
 * @param module the `import.meta.url` of the file that calls `serveIsolatedTask`, which the thread loads.
 * @param input is copied.
 * @param receive gets each result of the task as soon as it exists, also those before an error.
 * @throws TaskLimitError, or Error with the message of the task's own error
 */
export async function runIsolatedTask(
  module: string,
  input: unknown,
  { limits, receive }: { limits: TaskLimits; receive(result: unknown): void },
): Promise<void> {
  const { timeoutMs, maxMemoryBytes, signal } = limits;
  const startBytes = process.memoryUsage.rss();
  const startedAt = monotonicMs();
  const end = Promise.withResolvers<void>();
  if (signal?.aborted) throw new TaskLimitError("it was stopped");
  const data: IsolatedTask = { isolatedModule: module, input };
  // No variable of the environment is needed, and some hold keys.
  const worker = new Worker(new URL(module), { workerData: data, env: {} });
  const stop = () => end.reject(new TaskLimitError("it was stopped"));
  signal?.addEventListener("abort", stop, { once: true });
  const watch = setInterval(() => {
    if (monotonicMs() - startedAt >= timeoutMs) end.reject(new TaskLimitError("it takes too much time"));
    else if (process.memoryUsage.rss() - startBytes > maxMemoryBytes)
      end.reject(new TaskLimitError("it takes too much memory"));
  }, MEMORY_CHECK_MS);
  worker.on("message", (message: unknown) => {
    if (!isTaskMessage(message)) return;
    if (message.kind === "result") receive(message.result);
    else if (message.error === undefined) end.resolve();
    else end.reject(new Error(message.error));
  });
  worker.on("error", (error) => end.reject(error));
  worker.on("exit", () => end.reject(new Error("its thread ended")));
  try {
    await end.promise;
  } finally {
    clearInterval(watch);
    signal?.removeEventListener("abort", stop);
    end.promise.catch(() => {});
    await worker.terminate();
  }
}

/**
 * In the thread that `runIsolatedTask` has started for this module, performs the task; anywhere else, does nothing.
 *
 * @param perform yields the results, which are copied.
 */
export function serveIsolatedTask(
  module: string,
  perform: (input: unknown) => AsyncIterable<unknown> | Iterable<unknown>,
): void {
  const data: unknown = workerData;
  if (isMainThread || !isTask(data) || data.isolatedModule !== module) return;
  void serve(perform, data.input);
}

async function serve(perform: Parameters<typeof serveIsolatedTask>[1], input: unknown): Promise<void> {
  const send = (message: TaskMessage) => parentPort?.postMessage(message);
  try {
    for await (const result of perform(input)) send({ kind: "result", result });
    send({ kind: "end" });
  } catch (error) {
    send({ kind: "end", error: error instanceof Error ? error.message : String(error) });
  }
}

interface IsolatedTask {
  isolatedModule: string;
  input: unknown;
}

function isTask(data: unknown): data is IsolatedTask {
  return typeof data === "object" && data !== null && "isolatedModule" in data && "input" in data;
}

type TaskMessage = { kind: "result"; result: unknown } | { kind: "end"; error?: string };

function isTaskMessage(message: unknown): message is TaskMessage {
  return typeof message === "object" && message !== null && "kind" in message;
}
