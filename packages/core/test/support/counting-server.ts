import { asRecord } from "../../src/provider/wire-format.ts";
import { block, messageEnd, messageStart, textBlock } from "./answers.ts";
import { type SseServer, startSseServer } from "./sse-server.ts";
import { countTokens, TOKENS_PER_MESSAGE } from "./token-counting.ts";

/** What the model says; with a call of the tool `look` unless it is the last answer. */
export interface CountedAnswer {
  text: string;
  /** The arguments of the call. */
  look?: Record<string, unknown>;
}

export interface CountingServer extends AsyncDisposable {
  url: string;
  /** Tokens of each request that offers tools, in order. */
  counts: number[];
  problems: string[];
}

/**
 * A server on loopback that speaks the Messages API and counts each request with a real tokenizer. It reports that as
 * the API does: what the request before held as read from the cache, the rest as input.
 */
export async function startCountingServer(
  answerTo: (body: unknown) => CountedAnswer,
): Promise<CountingServer> {
  const counts: number[] = [];
  let requests = 0;
  const server: SseServer = await startSseServer(({ body }) => {
    const tokens = countWireTokens(body);
    const cached = Math.min(counts.at(-1) ?? 0, tokens);
    if (asRecord(body).tools !== undefined) counts.push(tokens);
    requests++;
    return { events: toEvents(answerTo(body), { tokens, cached, number: requests }) };
  });
  return {
    url: server.url,
    counts,
    problems: server.problems,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Tokens of the texts in the body of a request. */
function countWireTokens(body: unknown): number {
  const { system, tools, messages } = asRecord(body);
  const fixed = countStrings(system) + (tools === undefined ? 0 : countTokens(JSON.stringify(tools)));
  const blocks = Array.isArray(messages) ? messages.map((message) => asRecord(message).content) : [];
  return blocks.reduce((sum: number, content) => sum + TOKENS_PER_MESSAGE + countStrings(content), fixed);
}

/** The text of a string, of blocks, and of what is inside them; a call counts its name and its arguments. */
function countStrings(content: unknown): number {
  if (typeof content === "string") return countTokens(content);
  if (Array.isArray(content)) return content.reduce<number>((sum, part) => sum + countStrings(part), 0);
  const { type, text, name, input, content: inner } = asRecord(content);
  if (type === "text") return countTokens(String(text));
  if (type === "tool_use") return countTokens(String(name)) + countTokens(JSON.stringify(input));
  return type === "tool_result" ? countStrings(inner) : 0;
}

function toEvents(
  { text, look }: CountedAnswer,
  { tokens, cached, number }: { tokens: number; cached: number; number: number },
): unknown[] {
  const json = look === undefined ? "" : JSON.stringify(look);
  const call = { type: "tool_use", id: `toolu_${number}`, name: "look", input: {} };
  const usage = { input_tokens: tokens - cached, cache_read_input_tokens: cached, output_tokens: 1 };
  const outputTokens = countTokens(text) + (look === undefined ? 0 : countTokens(`look${json}`));
  return [
    messageStart(usage),
    ...textBlock(0, text),
    ...(look === undefined ? [] : block(1, call, { type: "input_json_delta", partial_json: json })),
    ...messageEnd(look === undefined ? "end_turn" : "tool_use", { output_tokens: outputTokens }),
  ];
}
