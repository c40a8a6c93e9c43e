import { encode } from "gpt-tokenizer";
import { block, messageEnd, messageStart, textBlock } from "./answers.ts";
import { type SseServer, startSseServer } from "./sse-server.ts";

/** What the service answers: a text, or calls of tools. */
export type ServiceAnswer = string | { calls: { name: string; input: Record<string, unknown> }[] };

/** The request as it arrived. */
export interface CountedRequest {
  model: string;
  /** The parts that a provider caches, in its order: tools, system prompt, messages. */
  tools: readonly Record<string, unknown>[];
  system: string;
  messages: readonly unknown[];
  /** Tokens of all of it, by an independent tokenizer. */
  tokens: number;
  cached: number;
}

export interface CachingService extends SseServer {
  counted: CountedRequest[];
  answers: ServiceAnswer[];
  /** Drops what is cached, as after a pause. */
  forget(): void;
}

/**
 * The Messages API with a cache of beginnings: it counts tokens with an independent tokenizer, and reads from the cache
 * what an earlier request to the same model began with.
 */
export async function startCachingService(): Promise<CachingService> {
  const counted: CountedRequest[] = [];
  const answers: ServiceAnswer[] = [];
  let cache: string[][] = [];
  let calls = 0;
  const server = await startSseServer(({ body }) => {
    const request = readRequest(body);
    const parts = [
      request.model,
      JSON.stringify(request.tools),
      request.system,
      ...request.messages.map((message) => JSON.stringify(message)),
    ];
    const sizes = parts.map((part, index) => (index === 0 ? 0 : countTokens(part)));
    const shared = Math.max(0, ...cache.map((earlier) => countShared(earlier, parts)));
    const cached = sum(sizes.slice(0, shared));
    const written = sum(sizes.slice(shared));
    cache.push(parts);
    counted.push({ ...request, tokens: cached + written, cached });
    const usage = {
      input_tokens: 0,
      output_tokens: 1,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: written,
    };
    const answer = answers.shift() ?? "Done.";
    if (typeof answer === "string")
      return { events: [messageStart(usage), ...textBlock(0, answer), ...messageEnd("end_turn")] };
    const blocks = answer.calls.flatMap(({ name, input }, index) =>
      block(
        index,
        { type: "tool_use", id: `call_${++calls}`, name, input: {}, caller: { type: "direct" } },
        { type: "input_json_delta", partial_json: JSON.stringify(input) },
      ),
    );
    return { events: [messageStart(usage), ...blocks, ...messageEnd("tool_use")] };
  });
  return {
    ...server,
    counted,
    answers,
    forget() {
      cache = [];
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The tokens of a text, by a tokenizer that diligent does not use. */
export function countTokens(text: string): number {
  return encode(text).length;
}

function countShared(earlier: readonly string[], parts: readonly string[]): number {
  const different = earlier.findIndex((part, index) => part !== parts[index]);
  return different < 0 ? earlier.length : different;
}

function readRequest(body: unknown): Omit<CountedRequest, "tokens" | "cached"> {
  // Markers say what to cache; they are not part of it.
  const text = JSON.stringify(body, (key, value) => (key === "cache_control" ? undefined : value));
  const { model, tools = [], system = [], messages } = JSON.parse(text);
  return { model, tools, system: textOf(system), messages };
}

function textOf(system: string | { text: string }[]): string {
  return typeof system === "string" ? system : system.map(({ text }) => text).join("\n");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
