import { now as clockNow } from "../infrastructure/clock.ts";
import { ProviderError } from "./errors.ts";
import { createProviderStream } from "./provider-stream.ts";
import { numberToolCalls } from "./scripted-calls.ts";
import { findRequestFault } from "./scripted-check.ts";
import { finishAborted, type PlayedRequest, playTurn } from "./scripted-playback.ts";
import type { Script } from "./scripted-schema.ts";
import { createTurnSource, type TakeTurn } from "./scripted-turns.ts";
import { estimateRequestTokens } from "./scripted-usage.ts";
import type { Model, StreamContext, StreamFunction, StreamOptions } from "./types.ts";

export { type Recording, startRecording } from "./recording.ts";
export { parseScript, readScript } from "./scripted-parse.ts";
export { findStart, type ScriptStart } from "./scripted-turns.ts";

const DEFAULT_CONTEXT_WINDOW = 200_000;
const MAX_OUTPUT_TOKENS = 16_384;

/** The model a script stands for; `path` as the user wrote it after `scripted/`. Its price is unknown unless it says one. */
export function scriptedModel(path: string, script: Script): Model {
  const { contextWindow = DEFAULT_CONTEXT_WINDOW, maxInputTokens, conditions } = script;
  return {
    id: `scripted/${path}`,
    provider: "scripted",
    contextWindow,
    maxOutputTokens: script.maxOutputTokens ?? Math.min(MAX_OUTPUT_TOKENS, contextWindow),
    ...(maxInputTokens !== undefined && { maxInputTokens }),
    thinking: "none",
    ...script.price,
    ...(conditions && { conditions }),
  };
}

/** Where playing begins, and what time it is then. */
export interface ScriptedOptions {
  /** Index of the first turn to play. Left out, it is the one behind as many replies as the first request holds. */
  startAtTurn?: number | undefined;
  /** Index of the first summary to play. */
  startAtSummary?: number | undefined;
  /** Milliseconds since the epoch. */
  now?: (() => number) | undefined;
}

/** `purpose` marks a request for a summary of the conversation, which takes from the script's `summaries`. */
export interface ScriptedStreamOptions extends StreamOptions {
  purpose?: "summary" | undefined;
}

/**
 * A provider that needs no network: each request, repetitions included, is answered by the next turn of the script. A
 * request that a real API would refuse is refused, saying where, and takes no turn; nor does one aborted beforehand.
 */
export function createScriptedStream(script: Script, options: ScriptedOptions = {}): StreamFunction {
  const takeTurn = createTurnSource(numberToolCalls(script), options);
  const now = options.now ?? clockNow;
  return (model: Model, context: StreamContext, streamOptions: ScriptedStreamOptions) => {
    const request: PlayedRequest = {
      stream: createProviderStream(),
      model: model.id,
      timestamp: now(),
      requestTokens: estimateRequestTokens(context),
      signal: streamOptions.signal,
    };
    answer(request, { context, takeTurn, purpose: streamOptions.purpose });
    return request.stream;
  };
}

interface Asked {
  context: StreamContext;
  takeTurn: TakeTurn;
  purpose: "summary" | undefined;
}

function answer(request: PlayedRequest, { context, takeTurn, purpose }: Asked): void {
  const { stream, signal } = request;
  if (signal?.aborted) {
    finishAborted(request, []);
    return;
  }
  const fault = findRequestFault(context);
  const turn = fault ? refusal(`${fault.path}: ${fault.message}`) : takeTurn(context.messages, purpose);
  if (turn instanceof ProviderError) stream.push({ type: "error", error: turn });
  else void playTurn(request, turn);
}

function refusal(fault: string): ProviderError {
  const message = `The scripted provider refuses this request, as a real API would: ${fault}.`;
  return new ProviderError(message, "invalid_request");
}
