import { createAnthropicStream } from "../../src/provider/anthropic.ts";
import { createCompatibleStream } from "../../src/provider/compatible.ts";
import { createOpenAIStream } from "../../src/provider/openai.ts";
import type { StreamFunction } from "../../src/provider/types.ts";
import * as messages from "./answers.ts";
import * as chunks from "./compatible-answers.ts";
import type { ImprovisedEnding, ImprovisedPart, ImprovisedReply } from "./improvised-replies.ts";
import * as responses from "./openai-answers.ts";
import { errorReply, type Reply } from "./sse-server.ts";

type Wire = Record<string, unknown>;

// What a service says that its window is, in tokens.
const LEARNED_WINDOW = 9_500;

/** A number of the request, so that ids come once, and what the service has counted for it. */
export interface Counted {
  number: number;
  inputTokens: number;
}

/** A service that answers as it was improvised. */
export interface ImprovisedService {
  model: string;
  connect(url: string): StreamFunction;
  toReply(reply: ImprovisedReply, counted: Counted): Reply;
}

export const IMPROVISED_SERVICES: Readonly<Record<string, ImprovisedService>> = {
  anthropic: {
    model: "claude-test",
    connect: (url) => createAnthropicStream("test-key", url),
    toReply: toMessagesReply,
  },
  openai: {
    model: "gpt-test",
    connect: (url) => createOpenAIStream("test-key", `${url}/v1`),
    toReply: toResponsesReply,
  },
  compatible: {
    model: "open-test",
    connect: (url) => createCompatibleStream("open", { baseUrl: `${url}/v1` }),
    toReply: toChunksReply,
  },
};

function toMessagesReply(
  { parts, ending, isMixed }: ImprovisedReply,
  { number, inputTokens }: Counted,
): Reply {
  if (ending === "busy") return errorReply(529, "overloaded_error", "Overloaded");
  if (ending === "overflow") {
    const message = `prompt is too long: ${inputTokens} tokens > ${LEARNED_WINDOW} maximum`;
    return errorReply(400, "invalid_request_error", message);
  }
  const blocks = parts.map((part, index) => toBlock(part, index, number));
  const words = isMixed ? mixRuns(blocks, parts) : blocks.flat();
  const start = messages.messageStart({ input_tokens: inputTokens, output_tokens: 1 });
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const reason = ending === "whole" ? (parts.some(isCall) ? "tool_use" : "end_turn") : ending;
  return {
    events: [
      start,
      ...endWire(words, ending, { error, end: messages.messageEnd(reason, { output_tokens: 9 }) }),
    ],
  };
}

function toBlock(part: ImprovisedPart, index: number, number: number): Wire[] {
  switch (part.kind) {
    case "hidden":
      return messages.block(index, { type: "redacted_thinking", data: `b64${number}` });
    case "text":
      return messages.textBlock(index, ...part.pieces);
    case "thinking":
      return messages.block(
        index,
        { type: "thinking", thinking: "", signature: "" },
        ...part.pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: `c2ln${number}` },
      );
    case "call":
      return messages.block(
        index,
        { type: "tool_use", id: `toolu_${number}_${index}`, name: part.name, input: {} },
        ...part.pieces.map((json) => ({ type: "input_json_delta", partial_json: json })),
      );
  }
}

function toResponsesReply(
  { parts, ending, isMixed }: ImprovisedReply,
  { number, inputTokens }: Counted,
): Reply {
  if (ending === "busy") return responses.openAIError(503, { type: "server_error", message: "Overloaded" });
  if (ending === "overflow") {
    const message =
      "Your input exceeds the context window of this model. Please adjust your input and try again.";
    const code = "context_length_exceeded";
    return responses.openAIError(400, { type: "invalid_request_error", code, message });
  }
  const items = parts.map((part, index) => toItem(part, index, number));
  const words = isMixed ? mixRuns(items, parts) : items.flat();
  const usage = { input_tokens: inputTokens, output_tokens: 9 };
  const response = {
    id: "resp_1",
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    usage,
  };
  const end =
    ending === "max_tokens" ? { type: "response.incomplete", response } : responses.completed(usage);
  const error = { type: "error", code: "server_error", message: "The server had an error", param: null };
  return { events: [responses.created(), ...endWire(words, ending, { error, end: [end] })] };
}

function toItem(part: ImprovisedPart, index: number, number: number): Wire[] {
  const id = `${number}_${index}`;
  switch (part.kind) {
    case "hidden":
      return responses.item(index, responses.reasoningItem(`rs_${id}`));
    case "thinking":
      return responses.item(
        index,
        responses.reasoningItem(`rs_${id}`, [part.pieces.join("")]),
        ...responses.summaryPieces(0, ...part.pieces),
      );
    case "text":
      return responses.item(
        index,
        responses.messageItem(`msg_${id}`, [responses.textPart(part.pieces.join(""))]),
        ...responses.textPieces(0, ...part.pieces),
      );
    case "call":
      return responses.item(
        index,
        responses.callItem(`call_${id}`, part.pieces.join(""), { name: part.name }),
        ...responses.argumentPieces(...part.pieces),
      );
  }
}

function toChunksReply({ parts, ending, isMixed }: ImprovisedReply, { number, inputTokens }: Counted): Reply {
  if (ending === "busy") return chunks.jsonReply(503, { error: { message: "Overloaded" } });
  if (ending === "overflow") {
    const message = `This model's maximum context length is ${LEARNED_WINDOW} tokens. However, you requested ${inputTokens} tokens.`;
    return chunks.jsonReply(400, { error: { message } });
  }
  const blocks = parts.map((part, index) => toChunks(part, index, number));
  const words = isMixed ? mixRuns(blocks, parts) : blocks.flat();
  const reason = ending === "max_tokens" ? "length" : parts.some(isCall) ? "tool_calls" : "stop";
  const usage = { prompt_tokens: inputTokens, completion_tokens: 9, total_tokens: inputTokens + 9 };
  const error = { error: { code: 500, message: "The server had an error" } };
  const end = [chunks.finishChunk(reason), chunks.usageChunk(usage)];
  const isBroken = ending === "cut" || ending === "error";
  const said = endWire([chunks.chunk({ role: "assistant", content: "" }), ...words], ending, { error, end });
  return { body: chunks.toBody(said, isBroken ? "" : undefined) };
}

function toChunks(part: ImprovisedPart, index: number, number: number): Wire[] {
  switch (part.kind) {
    case "hidden":
      return [];
    case "text":
      return part.pieces.map((content) => chunks.textChunk(content));
    case "thinking":
      return part.pieces.map((text) => chunks.chunk({ reasoning_content: text }));
    case "call": {
      const { name, pieces } = part;
      const start = chunks.callChunk(chunks.callEntry("", { index, id: `call_${number}_${index}`, name }));
      return [start, ...pieces.map((json) => chunks.callChunk(chunks.callEntry(json, { index })))];
    }
  }
}

function isCall({ kind }: ImprovisedPart): boolean {
  return kind === "call";
}

/** The events of calls that follow each other one by one in turns, everything else as it is. */
function mixRuns(events: readonly Wire[][], parts: readonly ImprovisedPart[]): Wire[] {
  const mixed: Wire[] = [];
  for (let index = 0; index < events.length; ) {
    const end = parts.findIndex(
      (part, place) => place > index && !(isCall(part) && parts[index]?.kind === "call"),
    );
    const run = events.slice(index, end < 0 ? events.length : end);
    const longest = Math.max(...run.map(({ length }) => length));
    for (let place = 0; place < longest; place++)
      mixed.push(...run.flatMap((list) => list.slice(place, place + 1)));
    index += run.length;
  }
  return mixed;
}

/** An answer that breaks off does so somewhere after its middle. */
function endWire(
  words: Wire[],
  ending: ImprovisedEnding,
  { error, end }: { error: Wire; end: Wire[] },
): Wire[] {
  const most = words.slice(0, Math.ceil(words.length * 0.7));
  if (ending === "cut") return most;
  return ending === "error" ? [...most, error] : [...words, ...end];
}
