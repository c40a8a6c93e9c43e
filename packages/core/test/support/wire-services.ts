import { createAnthropicStream } from "../../src/provider/anthropic.ts";
import { createOpenAIStream } from "../../src/provider/openai.ts";
import type { StreamFunction } from "../../src/provider/types.ts";
import * as messages from "./answers.ts";
import * as responses from "./openai-answers.ts";

export interface WireCall {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** What a model says in one answer. Without text and calls it says nothing at all. */
export interface WireAnswer {
  text?: string;
  calls?: readonly WireCall[];
  /** What the service has counted for the request. */
  inputTokens: number;
}

export type WireServiceName = "anthropic" | "openai";

/** A service as the adapters speak to it and as a server on loopback answers for it. */
export interface WireService {
  connect(url: string): StreamFunction;
  toEvents(answer: WireAnswer): unknown[];
}

export const WIRE_SERVICES: Readonly<Record<WireServiceName, WireService>> = {
  anthropic: { connect: (url) => createAnthropicStream("test-key", url), toEvents: toMessagesEvents },
  openai: { connect: (url) => createOpenAIStream("test-key", `${url}/v1`), toEvents: toResponsesEvents },
};

function toMessagesEvents({ text = "", calls = [], inputTokens }: WireAnswer): unknown[] {
  const first = text === "" ? 0 : 1;
  return [
    messages.messageStart({ input_tokens: inputTokens, output_tokens: 1 }),
    ...(text === "" ? [] : messages.textBlock(0, text)),
    ...calls.flatMap(({ id, name, input }, index) =>
      messages.block(
        first + index,
        { type: "tool_use", id, name, input: {} },
        { type: "input_json_delta", partial_json: JSON.stringify(input) },
      ),
    ),
    ...messages.messageEnd(calls.length > 0 ? "tool_use" : "end_turn", {
      output_tokens: outputTokens(text, calls),
    }),
  ];
}

function toResponsesEvents({ text = "", calls = [], inputTokens }: WireAnswer): unknown[] {
  const first = text === "" ? 0 : 1;
  const message = responses.messageItem(`msg_${inputTokens}_${text.length}_${calls[0]?.id ?? "end"}`, [
    responses.textPart(text),
  ]);
  return [
    responses.created(),
    ...(text === "" ? [] : responses.item(0, message, ...responses.textPieces(0, text))),
    ...calls.flatMap(({ id, name, input }, index) => {
      const json = JSON.stringify(input);
      const item = responses.callItem(id, json, { name });
      return responses.item(first + index, item, ...responses.argumentPieces(json));
    }),
    responses.completed({ input_tokens: inputTokens, output_tokens: outputTokens(text, calls) }),
  ];
}

function outputTokens(text: string, calls: readonly WireCall[]): number {
  return Math.ceil((text.length + JSON.stringify(calls).length) / 4);
}
