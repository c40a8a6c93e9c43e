import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { sleep } from "../../infrastructure/runtime.ts";
import { checkEndpoint } from "../endpoint.ts";
import { ProviderError } from "../errors.ts";
import { loadOpenAISdk, openOpenAIClient } from "../openai/client.ts";
import { readBeginning } from "../transport.ts";
import type { Model, StreamContext, StreamOptions } from "../types.ts";
import { asRecord, parseJson } from "../wire-format.ts";
import { failureOf, refusedCompatiblePart, toBodyError, toCompatibleError } from "./errors.ts";
import {
  type CompatibleServer,
  hasPart,
  refusalKeyOf,
  toCompatibleRequest,
  toServerModelId,
} from "./request.ts";
import { ANSWER_END, type CompatibleAnswer } from "./response.ts";

/** The request, and what was learned from earlier rejections. */
export interface CompatibleRequest {
  server: CompatibleServer;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /**
   * The parts that the server rejected (see `refusalKeyOf`); new ones are added. The requests of one stream function
   * share the set.
   */
  refused: Set<string>;
}

/**
 * Requests an answer. Not every server supports `stream_options`, an effort, thinking or images. A rejected part is
 * left out and the request is repeated without it; otherwise the conversation could never continue.
 */
export async function openCompatibleAnswer(
  request: CompatibleRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { server, model, context, options } = request;
  const refused = new Set(request.refused);
  for (;;) {
    const body = toCompatibleRequest(model, context, { ...options, refused });
    try {
      const response = await sendCompatibleRequest(server, body, signal);
      for (const key of refused) request.refused.add(key);
      return response;
    } catch (cause) {
      const part = refusedCompatiblePart(await describeFailure(cause, request));
      const key = part && refusalKeyOf(part, model);
      if (!key || refused.has(key) || !hasPart(body, part)) throw cause;
      refused.add(key);
    }
  }
}

/** Converts any failure of a request or its answer. */
export async function describeFailure(
  cause: unknown,
  { server, model }: Pick<CompatibleRequest, "server" | "model">,
): Promise<ProviderError> {
  const modelId = toServerModelId(model.id);
  return toCompatibleError(cause, await loadOpenAISdk(), { server, modelId });
}

// The usage and the end follow the stop reason immediately. A server may also leave the connection open.
const END_GRACE_MS = 10_000;

/** Sends one request. Throws what the SDK throws, or a ProviderError if nothing can be sent. */
async function sendCompatibleRequest(
  { endpoint, vendor }: CompatibleServer,
  body: ChatCompletionCreateParamsStreaming,
  signal: AbortSignal,
): Promise<Response> {
  checkEndpoint(endpoint, vendor);
  const client = await openOpenAIClient(endpoint);
  // The SDK's own reader does not report whether the stream ended with `[DONE]`, or what arrived instead of a stream.
  return client.chat.completions.create(body, { signal }).asResponse();
}

/** How the end of an answer is recognized; some servers never close the connection. */
interface ReadingOptions {
  server: CompatibleServer;
  /** The answer so far, which shows whether the end may follow. */
  answer: Readonly<CompatibleAnswer>;
  /** The longest silence after the stop reason, in milliseconds; by default `END_GRACE_MS`. */
  endGraceMs?: number;
}

/**
 * The chunks of an answer, then `ANSWER_END` if it is complete: it sent its stop reason or `[DONE]`. Throws the error
 * that a response without an answer means, and errors that the server reports inside an answer.
 */
export async function* readCompatibleAnswer(
  response: Response,
  { server, answer, endGraceMs = END_GRACE_MS }: ReadingOptions,
): AsyncGenerator<unknown> {
  const { status, headers } = response;
  if (/\bhtml\b/i.test(headers.get("content-type") ?? "")) {
    throw toBodyError(await readBeginning(response), server, { status, headers });
  }
  const events = readServerSentEvents(response.body ?? new Blob().stream());
  try {
    for await (const event of untilSilent(events, () => hasStopped(answer), endGraceMs)) {
      for (const { name, data } of splitEvent(event)) {
        // A connection can be reused once it has been read to its end.
        if (answer.isFinished) continue;
        if (data.trim() !== "[DONE]") yield* toChunks({ name, data }, server, response);
        else if (hasStopped(answer) || answer.drafts.length > 0) yield ANSWER_END;
      }
    }
  } catch (error) {
    // After the stop reason, a failure of the connection does not affect the answer.
    if (error instanceof ProviderError || !hasStopped(answer)) throw error;
  }
  if (hasStopped(answer) && !answer.isFinished) yield ANSWER_END;
}

function hasStopped({ rawStopReason, isFinished }: Readonly<CompatibleAnswer>): boolean {
  return isFinished || rawStopReason !== undefined;
}

/** Yields the items; once `isOver` returns true, ends at the first silence of `graceMs`. */
async function* untilSilent<T>(
  items: AsyncGenerator<T>,
  isOver: () => boolean,
  graceMs: number,
): AsyncGenerator<T> {
  for (;;) {
    const next = items.next();
    // A pending read fails when the connection is closed, and nothing awaits it then.
    next.catch(() => {});
    const result = isOver() ? await orSilence(next, graceMs) : await next;
    if (!result || result.done) return;
    yield result.value;
  }
}

async function orSilence<T>(promise: Promise<T>, graceMs: number): Promise<T | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([promise, sleep(graceMs, settled.signal).then(() => undefined)]);
  } finally {
    settled.abort();
  }
}

/** The chunks in an event; throws the error that it reports. */
function toChunks(
  { name, data }: ServerSentEvent,
  server: CompatibleServer,
  { status, headers }: Response,
): unknown[] {
  const parsed = parseJson(data);
  if (name === PLAIN_TEXT) {
    if (Array.isArray(asRecord(parsed).choices) && failureOf(parsed) === undefined) return [parsed];
    throw toBodyError(data, server, { status, headers });
  }
  if (name === "error") throw toBodyError(parsed ?? data, server, { headers });
  // An event of another kind, such as a keep-alive.
  if (parsed === undefined && name !== "" && name !== "message") return [];
  if (parsed === undefined) throw new SyntaxError("an event is not valid JSON.");
  const failure = failureOf(parsed);
  if (failure !== undefined) throw toBodyError(failure, server, { headers });
  return [parsed];
}

/** Some servers leave out the blank line between events. */
function splitEvent(event: ServerSentEvent): ServerSentEvent[] {
  const { name, data } = event;
  const isOne =
    !data.includes("\n") || name === PLAIN_TEXT || name === "error" || parseJson(data) !== undefined;
  return isOne ? [event] : data.split("\n").map((line) => ({ name, data: line }));
}

/** One server-sent event: its name, empty if it has none, and its joined data lines. */
export interface ServerSentEvent {
  name: string;
  data: string;
}

/** The event name for a body that is not an event stream: the data is the whole text. */
export const PLAIN_TEXT = "plain text";

// The limit for an answer that arrives as plain JSON although a stream was requested. No model answer is this long.
const MAX_PLAIN_CHARS = 8 * 1024 * 1024;

/**
 * Parses a stream of server-sent events. Skips comments, unused fields and events without data. An event that is cut
 * off by the end of the body is emitted too, because only its blank line may be missing. An `error` field, which some
 * versions of llama.cpp's server send, becomes an event of that name.
 */
export async function* readServerSentEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const lines = readStreamLines(body);
  let event: ServerSentEvent | undefined;
  let isFirst = true;
  for await (const line of lines) {
    if (isFirst && isPlainText(line)) {
      yield { name: PLAIN_TEXT, data: await readText(line, lines) };
      return;
    }
    if (line !== "") {
      isFirst = false;
      event = addField(event, line);
    } else if (event) {
      if (event.data.trim() !== "") yield event;
      event = undefined;
    }
  }
  if (event && event.data.trim() !== "") yield event;
}

const FIELDS = ["data", "event", "id", "retry", "error"];

/** True for a line that cannot begin an event stream: it is not a field, known or unknown, complete or cut off. */
function isPlainText(line: string): boolean {
  const isField = /^[a-z_-]*:/.test(line) || FIELDS.some((field) => field.startsWith(line));
  return line.trim() !== "" && !isField;
}

async function readText(firstLine: string, lines: AsyncIterable<string>): Promise<string> {
  let text = firstLine;
  for await (const line of lines) {
    text += `\n${line}`;
    if (text.length > MAX_PLAIN_CHARS) break;
  }
  return text;
}

function addField(event: ServerSentEvent | undefined, line: string): ServerSentEvent | undefined {
  const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
  const { name, data } = event ?? { name: "", data: "" };
  if (field === "event") return { name: value, data };
  if (field !== "data" && field !== "error") return event;
  return { name: field === "error" ? field : name, data: data === "" ? value : `${data}\n${value}` };
}

/** The lines of a byte stream, at any chunk boundaries. Lines end in LF, CRLF or CR; the last one may have no end. */
export async function* readStreamLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let endedInReturn = false;
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true });
    if (text === "") continue;
    // The LF of a CRLF that was split between two chunks does not end another line.
    if (endedInReturn && text.startsWith("\n")) text = text.slice(1);
    endedInReturn = text === "" ? false : text.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      yield pieces.join("") + line;
      pieces = [];
    }
    if (rest !== "") pieces.push(rest);
  }
  const last = pieces.join("") + decoder.decode();
  if (last !== "") yield last;
}
