import { ProviderError } from "../../src/provider/errors.ts";
import { findRequestFault } from "../../src/provider/scripted/check-request.ts";
import { createScriptedStream } from "../../src/provider/scripted.ts";
import {
  createProviderStream,
  type Model,
  type StreamContext,
  type StreamFunction,
  type StreamOptions,
} from "../../src/provider/types.ts";
import type { TurnScript } from "./agent-run.ts";
import { countRequestTokens } from "./token-counting.ts";

/** What a model has been asked. */
export interface AskedRecord {
  /** Those that it answered. */
  requests: number;
  /** Of the largest one that it answered. */
  mostTokens: number;
  /** Those that it refused since they did not fit into its window. */
  tooLong: number;
  /** What a service would have refused, in words. */
  faults: string[];
  /** Milliseconds spent in here, on counting above all: no time of the program's. */
  spentMs: number;
}

export interface CountingModel {
  model: Model;
  streamFunction: StreamFunction;
  asked: AskedRecord;
}

/**
 * A model that is played by a function. It counts each request with a real tokenizer, reports that as its usage, and
 * refuses what is larger than its window.
 */
export function createCountingModel(
  model: Model,
  reply: (context: StreamContext, options: StreamOptions) => TurnScript,
): CountingModel {
  const asked: AskedRecord = { requests: 0, mostTokens: 0, tooLong: 0, faults: [], spentMs: 0 };
  const answer: StreamFunction = (askedModel, context, options) => {
    const fault = findRequestFault(context);
    if (fault) asked.faults.push(`${fault.path}: ${fault.message}`);
    const inputTokens = countRequestTokens(context);
    if (inputTokens > model.contextWindow) return refuse(asked, inputTokens);
    asked.requests++;
    asked.mostTokens = Math.max(asked.mostTokens, inputTokens);
    const turn = { usage: { inputTokens }, ...reply(context, options) };
    return createScriptedStream({ version: 1, turns: [turn] }, { startAtTurn: 0 })(
      askedModel,
      context,
      options,
    );
  };
  const streamFunction: StreamFunction = (...request) => {
    const begin = performance.now();
    try {
      return answer(...request);
    } finally {
      asked.spentMs += performance.now() - begin;
    }
  };
  return { model, streamFunction, asked };
}

function refuse(asked: AskedRecord, inputTokens: number): ReturnType<StreamFunction> {
  asked.tooLong++;
  const stream = createProviderStream();
  const error = new ProviderError(`prompt is too long: ${inputTokens} tokens`, "context_overflow");
  stream.push({ type: "error", error });
  return stream;
}
