import * as messages from "../../../core/test/support/answers.ts";
import * as responses from "../../../core/test/support/openai-answers.ts";
import { errorReply, type Reply } from "../../../core/test/support/sse-server.ts";

type WireEvent = Record<string, unknown>;

export interface VendorCall {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/**
 * The content of one answer of a model. Each text and the arguments of each call are streamed in two pieces.
 */
export interface VendorAnswer {
  text: string;
  calls?: readonly VendorCall[];
  /** Tokens as the service counts them; default: 10 and 5. */
  usage?: { input: number; output: number };
}

/** One of the services that diligent uses, for a loopback server that replaces it. */
export interface VendorService {
  name: "anthropic" | "openai";
  model: string;
  keyVariable: string;
  urlVariable: string;
  /** The base path of the API. */
  pathOfBase: string;
  /** The path of a request for an answer, below the server's address. */
  path: string;
  events(answer: VendorAnswer): WireEvent[];
  /** The events of thinking at the beginning of an answer, in two pieces. */
  thinking(text: string): WireEvent[];
  /** The event types for pieces of text and of arguments. */
  pieces: { text: string; json: string };
  overloaded: Reply;
  /** How it refuses a request that is too long. */
  overflow(tokens: number, window: number): Reply;
  /** An event that breaks off an answer. */
  errorEvent: WireEvent;
}

export const ANTHROPIC_SERVICE: VendorService = {
  name: "anthropic",
  model: "claude-sonnet-5",
  keyVariable: "ANTHROPIC_API_KEY",
  urlVariable: "ANTHROPIC_BASE_URL",
  pathOfBase: "",
  path: "/v1/messages",
  events({ text, calls = [], usage }) {
    return [
      messages.messageStart(usage && { input_tokens: usage.input, output_tokens: 1 }),
      ...messages.textBlock(0, ...halves(text)),
      ...calls.flatMap(({ id, name, input }, index) =>
        messages.block(
          index + 1,
          { type: "tool_use", id, name, input: {} },
          ...halves(JSON.stringify(input)).map((json) => ({ type: "input_json_delta", partial_json: json })),
        ),
      ),
      ...messages.messageEnd(
        calls.length > 0 ? "tool_use" : "end_turn",
        usage && { output_tokens: usage.output },
      ),
    ];
  },
  thinking: (text) =>
    messages.block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      ...halves(text).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: "c2lnbmVk" },
    ),
  pieces: { text: "text_delta", json: "input_json_delta" },
  overloaded: errorReply(529, "overloaded_error", "Overloaded"),
  overflow(tokens, window) {
    const message = `prompt is too long: ${tokens} tokens > ${window} maximum`;
    return errorReply(400, "invalid_request_error", message);
  },
  errorEvent: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
};

export const OPENAI_SERVICE: VendorService = {
  name: "openai",
  model: "gpt-5.4",
  keyVariable: "OPENAI_API_KEY",
  urlVariable: "OPENAI_BASE_URL",
  pathOfBase: "/v1",
  path: "/v1/responses",
  events({ text, calls = [], usage }) {
    const message = responses.messageItem(`msg_${text.length}_${calls[0]?.id ?? "end"}`, [
      responses.textPart(text),
    ]);
    return [
      responses.created(),
      ...responses.item(0, message, ...responses.textPieces(0, ...halves(text))),
      ...calls.flatMap(({ id, name, input }, index) => {
        const json = JSON.stringify(input);
        const pieces = responses.argumentPieces(...halves(json));
        return responses.item(index + 1, responses.callItem(id, json, { name }), ...pieces);
      }),
      responses.completed(usage && { input_tokens: usage.input, output_tokens: usage.output }),
    ];
  },
  thinking: (text) =>
    responses.item(
      0,
      responses.reasoningItem("rs_1", [text]),
      ...responses.summaryPieces(0, ...halves(text)),
    ),
  pieces: { text: "response.output_text.delta", json: "response.function_call_arguments.delta" },
  overloaded: responses.openAIError(503, { type: "server_error", message: "Overloaded" }),
  overflow: () =>
    responses.openAIError(400, {
      type: "invalid_request_error",
      code: "context_length_exceeded",
      param: "input",
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    }),
  errorEvent: { type: "error", code: "server_error", message: "The server had an error", param: null },
};

export const SERVICES = [ANTHROPIC_SERVICE, OPENAI_SERVICE];

/** The variables that direct diligent to a server that replaces the service. */
export function environmentFor(service: VendorService, serverUrl: string): Record<string, string> {
  return {
    [service.keyVariable]: "test-key",
    [service.urlVariable]: `${serverUrl}${service.pathOfBase}`,
    DILIGENT_MODEL: service.model,
  };
}

/** A successful answer of the service. */
export function wholeReply(service: VendorService, answer: VendorAnswer): Reply {
  return { events: service.events(answer) };
}

/** The same preceded by thinking, which the service expects back with its signature. */
export function thoughtfulReply(service: VendorService, answer: VendorAnswer): Reply {
  const [start, ...rest] = service.events(answer).map((event) => shift(event));
  return { events: [start, ...service.thinking("Let me think about it."), ...rest] };
}

/** An event of the next block or item. */
function shift(event: WireEvent): WireEvent {
  const moved = ["index", "output_index"].flatMap((key) => {
    const place = event[key];
    return typeof place === "number" ? [[key, place + 1] as const] : [];
  });
  return { ...event, ...Object.fromEntries(moved) };
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
