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

/** The request, and what earlier refusals have taught. */
export interface CompatibleRequest {
  server: CompatibleServer;
  model: Model;
  context: StreamContext;
  options: StreamOptions;
  /** What the server refused to take (see `refusalKeyOf`), added to here; shared by the requests of one stream function. */
  refused: Set<string>;
}

/**
 * Requests an answer. Servers differ in what they support: `stream_options`, an effort, thinking or images that a
 * server refuses are left out, and the request is repeated without them, or the conversation could never continue.
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

// What comes after the stop reason, which is the usage and the end, comes at once. A server may leave the connection open
// instead.
const END_GRACE_MS = 10_000;

/** Sends one request. Throws what the SDK throws, a ProviderError where nothing can be sent. */
async function sendCompatibleRequest(
  { endpoint, vendor }: CompatibleServer,
  body: ChatCompletionCreateParamsStreaming,
  signal: AbortSignal,
): Promise<Response> {
  checkEndpoint(endpoint, vendor);
  const client = await openOpenAIClient(endpoint);
  // The SDK's own reader does not tell whether the stream was closed by `[DONE]`, nor what came in place of a stream.
  return client.chat.completions.create(body, { signal }).asResponse();
}

/** What tells when an answer is over; some servers never close the connection. */
interface ReadingOptions {
  server: CompatibleServer;
  /** What has arrived so far, which tells whether the end may come. */
  answer: Readonly<CompatibleAnswer>;
  /** How long a silence after the stop reason is borne, in milliseconds; `END_GRACE_MS` when left out. */
  endGraceMs?: number;
}

/**
 * The chunks of an answer, then `ANSWER_END` if it is whole: if it gave its stop reason, or said that it is done. Throws
 * what the response means when it is no answer, and what the server reports in the middle of one.
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
        // A connection can be used again when it is read to its end.
        if (answer.isFinished) continue;
        if (data.trim() !== "[DONE]") yield* toChunks({ name, data }, server, response);
        else if (hasStopped(answer) || answer.drafts.length > 0) yield ANSWER_END;
      }
    }
  } catch (error) {
    // Nothing that happens to the connection after the stop reason takes anything from the answer.
    if (error instanceof ProviderError || !hasStopped(answer)) throw error;
  }
  if (hasStopped(answer) && !answer.isFinished) yield ANSWER_END;
}

function hasStopped({ rawStopReason, isFinished }: Readonly<CompatibleAnswer>): boolean {
  return isFinished || rawStopReason !== undefined;
}

/** The items, up to a silence of `graceMs` once `isOver`. */
async function* untilSilent<T>(
  items: AsyncGenerator<T>,
  isOver: () => boolean,
  graceMs: number,
): AsyncGenerator<T> {
  for (;;) {
    const next = items.next();
    // What is still read after the silence fails when the connection is closed, and nobody waits for it then.
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

/** What an event holds; throws what it reports. */
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
  // An event of another kind, such as a sign of life.
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

/** One server-sent event: its name, empty where it has none, and its data lines, joined. */
export interface ServerSentEvent {
  name: string;
  data: string;
}

/** The name of the event that a body comes out as when it is no stream of events: its data is the whole text. */
export const PLAIN_TEXT = "plain text";

// An answer that was asked to be streamed and comes in one piece; no answer of a model is as long.
const MAX_PLAIN_CHARS = 8 * 1024 * 1024;

/**
 * Parses a stream of server-sent events. Comments, unused fields and events without data are skipped. An event that
 * the body ends in the middle of is given too: what is missing of it may be no more than the blank line. An `error`
 * field, as some versions of llama.cpp's server send it, comes out as an event of that name.
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

/** True for a line with which no stream begins: neither a field, known or not, nor one that was cut off. */
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

/** Lines of a text, wherever its bytes are cut; they end in LF, CRLF or CR, the last one also in nothing. */
export async function* readStreamLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let endedInReturn = false;
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true });
    if (text === "") continue;
    // The second half of a CRLF that was cut in two ends no line of its own.
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
