import { sleep } from "@diligent/core/run";
import type { CliInput } from "./cli-io.ts";
import { describeError } from "./describe-error.ts";
import { UsageError } from "./usage-error.ts";

/** A prompt above this would exceed every model's window anyway. */
const MAX_INPUT_MEGABYTES = 10;
const MAX_INPUT_BYTES = MAX_INPUT_MEGABYTES * 1024 * 1024;

// A pipe that somebody left open, as cron jobs and editors do, must not hold a prompt that stands in the arguments.
const SILENCE_MS = 2000;

/**
 * The prompt of a run in print mode: what is piped in, in front of what the arguments say. With words in the arguments
 * an input that stays silent for 2 s is left alone; once it has begun it is read to its end,
 * which may not be more than 10 MB away.
 * @param words the prompt in the arguments.
 * @throws UsageError when there is no prompt, or an input that is too large or cannot be read.
 */
export async function readPrompt(
  words: string | undefined,
  stdin: CliInput,
  stop: AbortSignal,
): Promise<string> {
  const patienceMs = words === undefined ? undefined : SILENCE_MS;
  const piped = stdin.isTerminal ? "" : await readPiped(stdin, { patienceMs, stop });
  const prompt = [piped.trimEnd(), words ?? ""].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "") throw new UsageError('the prompt is empty: diligent -p "what to do"');
  return prompt;
}

interface ReadOptions {
  /** How long the first byte is waited for; without it, until the input ends. */
  patienceMs: number | undefined;
  stop: AbortSignal;
}

async function readPiped(stdin: CliInput, { patienceMs, stop }: ReadOptions): Promise<string> {
  try {
    return await readAll(stdin.stream(), { patienceMs, stop });
  } catch (error) {
    // A directory or a closed descriptor as stdin holds no text; with a prompt in the arguments that is no obstacle.
    if (error instanceof UsageError || patienceMs === undefined) throw toUsageError(error);
    return "";
  }
}

async function readAll(stream: ReadableStream<Uint8Array>, options: ReadOptions): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const stopped = untilAborted(options.stop);
  let text = "";
  let bytes = 0;
  let chunk = await Promise.race([stopped, withinPatience(reader.read(), options)]);
  while (chunk && !chunk.done) {
    bytes += chunk.value.length;
    if (bytes > MAX_INPUT_BYTES) throw new UsageError(`the input is larger than ${MAX_INPUT_MEGABYTES} MB`);
    text += decoder.decode(chunk.value, { stream: true });
    chunk = await Promise.race([stopped, reader.read()]);
  }
  // Not waited for: an input that is silent may be slow to let go as well.
  reader.cancel().catch(() => {});
  return text + decoder.decode();
}

/** What `first` resolves to, or undefined when that takes too long. */
async function withinPatience<T>(
  first: Promise<T>,
  { patienceMs, stop }: ReadOptions,
): Promise<T | undefined> {
  if (patienceMs === undefined) return first;
  const arrived = new AbortController();
  const chunk = await Promise.race([first, sleep(patienceMs, AbortSignal.any([stop, arrived.signal]))]);
  arrived.abort();
  return chunk ?? undefined;
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

function toUsageError(error: unknown): UsageError {
  if (error instanceof UsageError) return error;
  return new UsageError(`cannot read the input: ${describeError(error)}`);
}
