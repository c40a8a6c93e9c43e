import { countContentCharacters, countMessageCharacters, isBlank } from "../../history.ts";
import {
  assertNever,
  type ContentBlock,
  EMPTY_USAGE,
  type OpaqueBlock,
  type StopReason,
  type TextBlock,
  type ThinkingBlock,
  type ToolCallBlock,
  type Usage,
} from "../../types.ts";
import type { ProviderEvent, StreamContext } from "../types.ts";
import { isRecord, parseJson } from "../wire-format.ts";
import type { Script, ScriptBlock, ScriptEvent, ScriptReply, ScriptToolCall, ScriptTurn } from "./script.ts";

/** One streamed block of a reply, with its text: for a tool call, the JSON of its arguments. */
interface StreamedPart {
  block: Extract<ContentBlock, { type: "text" | "thinking" | "tool_call" }>;
  streamed: string;
}

/** One block of a reply. Opaque blocks, which only a provider understands, are not streamed. */
type ReplyPart = StreamedPart | { block: OpaqueBlock };

/** True for a part whose text is streamed in chunks; opaque blocks appear only in the finished message. */
function isStreamed(part: ReplyPart): part is StreamedPart {
  return part.block.type !== "opaque";
}

/**
 * How a reply ends. `rawStopReason` is the script's own value; it is left out if the script has none or says
 * `aborted`.
 */
interface ReplyStop {
  stopReason: StopReason;
  rawStopReason?: string;
}

/**
 * The blocks of a turn: in the order of `content`, or thinking, text, tool calls. Empty blocks are left out; tool
 * calls never are.
 */
export function toReplyParts({ turn, callIds }: NumberedTurn): ReplyPart[] {
  const { thinking = "", text = "", toolCalls = [] } = turn;
  const lastIsCut = toReplyStop(turn).stopReason === "max_tokens";
  const calls = toolCalls.map((call, index) => {
    const isCut = lastIsCut && index === toolCalls.length - 1;
    return toCallPart(call, callIds[index] ?? call.name, isCut);
  });
  const parts = (turn.content ?? USUAL_ORDER).flatMap((block): ReplyPart[] => {
    switch (block.type) {
      case "thinking":
        return toStreamedPart(toThinkingBlock(block, thinking));
      case "text":
        return toStreamedPart({ type: "text", text: block.text ?? text, ...replayOf(block) });
      case "tool_call":
        return calls.splice(0, 1).map((part) => ({ ...part, block: { ...part.block, ...replayOf(block) } }));
      case "opaque":
        return [{ block: { type: "opaque", provider: block.provider ?? "", raw: block.raw } }];
      default:
        return assertNever(block.type);
    }
  });
  return [...parts, ...calls];
}

// Calls are always kept.
const USUAL_ORDER: readonly ScriptBlock[] = [{ type: "thinking" }, { type: "text" }];

function toThinkingBlock(block: ScriptBlock, thinking: string): ThinkingBlock {
  const { signature } = block;
  return {
    type: "thinking",
    thinking: block.thinking ?? thinking,
    ...(signature !== undefined && { signature }),
    ...replayOf(block),
  };
}

function replayOf({ replay }: ScriptBlock): Pick<TextBlock, "replay"> {
  return replay ? { replay } : {};
}

function toStreamedPart(block: TextBlock | ThinkingBlock): StreamedPart[] {
  const streamed = block.type === "text" ? block.text : block.thinking;
  // Thinking that the provider hides has no text.
  const isKept = block.replay !== undefined || ("signature" in block && block.signature !== undefined);
  return streamed === "" && !isKept ? [] : [{ block, streamed }];
}

/** The stop reason of a turn. Raw reasons are converted as the adapters convert them. */
export function toReplyStop({ stopReason, toolCalls = [] }: ScriptTurn): ReplyStop {
  const usual = toolCalls.length > 0 ? "tool_use" : "end_turn";
  if (stopReason === undefined) return { stopReason: usual };
  // Not a provider's reason: the request was aborted on this side.
  if (stopReason === "aborted") return { stopReason };
  return { stopReason: SPECIAL_STOPS.get(stopReason) ?? usual, rawStopReason: stopReason };
}

const SPECIAL_STOPS: ReadonlyMap<string, StopReason> = new Map([
  ["max_tokens", "max_tokens"],
  ["model_context_window_exceeded", "max_tokens"],
  ["refusal", "error"],
  ["pause_turn", "tool_use"],
  ["error", "error"],
]);

/** The blocks of the message, without blank text: a model may produce it, but no provider accepts it back. */
export function toMessageBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.filter((block) => block.type !== "text" || !isBlank(block.text));
}

function toCallPart({ name, input }: ScriptToolCall, id: string, isCut: boolean): StreamedPart {
  const whole = typeof input === "string" ? input : JSON.stringify(input);
  const call: ToolCallBlock = { type: "tool_call", id, name, input: {} };
  if (isCut) {
    // Without the last character, the closing brace, so that a JSON repairer could close it.
    const streamed = whole.replace(/.$/su, "");
    return { block: { ...call, invalidInput: streamed }, streamed };
  }
  const parsed = parseArguments(whole);
  return { block: parsed ? { ...call, input: parsed } : { ...call, invalidInput: whole }, streamed: whole };
}

/**
 * Parses arguments as an adapter does: empty text means no arguments, and text that is not a JSON object is
 * undefined.
 */
function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text === "") return {};
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
}

const WORDS_CHARS = 12;
// Text without spaces is split at this length.
const LONGEST_CHUNK_CHARS = 36;

/**
 * Splits a text into the streamed chunks: `chunkChars` UTF-16 units each, or by default whole words of about 12
 * characters. A chunk never splits a surrogate pair.
 */
export function* splitIntoChunks(text: string, chunkChars?: number): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = chunkChars === undefined ? findWordEnd(text, start) : pairSafeEnd(text, start + chunkChars);
    yield text.slice(start, end);
    start = end;
  }
}

/** Splits a text into chunks of the next given sizes, in UTF-16 units; the rest is split as usual. */
function* splitBySizes(
  text: string,
  sizes: Iterator<number, unknown>,
  chunkChars?: number,
): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const size = sizes.next();
    if (size.done) return yield* splitIntoChunks(text.slice(start), chunkChars);
    yield text.slice(start, start + size.value);
    start += size.value;
  }
}

function findWordEnd(text: string, start: number): number {
  const longest = start + LONGEST_CHUNK_CHARS;
  for (let end = start + WORDS_CHARS; end < longest; end++) {
    if (/\s/.test(text.charAt(end - 1))) return end;
  }
  return pairSafeEnd(text, longest);
}

function pairSafeEnd(text: string, end: number): number {
  const isInsidePair =
    isBetween(text.charCodeAt(end - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(end), 0xdc00, 0xdfff);
  return isInsidePair ? end + 1 : end;
}

function isBetween(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}

/** One step of a turn: an event is streamed, or a block of the reply is complete. */
export type PlayedStep = { event: ProviderEvent } | { block: ContentBlock };

/**
 * The steps of a turn up to its end; none for a request that fails immediately, such as with an overloaded server.
 *
 * @param requestTokens the input tokens, if the turn does not state them.
 */
export function* playSteps(numbered: NumberedTurn, requestTokens: number): Generator<PlayedStep> {
  const { turn } = numbered;
  if (turn.events) {
    for (const event of turn.events) yield* stepsOfEvent(event);
    return;
  }
  const parts = toReplyParts(numbered);
  if (turn.error && parts.length === 0 && !turn.startUsage) return;
  yield { event: { type: "start" } };
  if (turn.startUsage)
    yield { event: { type: "usage", usage: scriptedUsage(turn.startUsage, requestTokens, []) } };
  const sizes = (turn.chunks ?? []).values();
  for (const part of parts) {
    if (isStreamed(part)) yield* stepsOfPart(part, splitBySizes(part.streamed, sizes, turn.chunkChars));
    yield { block: part.block };
  }
}

function* stepsOfPart({ block }: StreamedPart, chunks: Iterable<string>): Generator<PlayedStep> {
  if (block.type === "tool_call")
    yield { event: { type: "tool_call_start", id: block.id, name: block.name } };
  for (const chunk of chunks) yield { event: deltaEvent(block, chunk) };
  yield { event: endEvent(block) };
}

function deltaEvent(block: StreamedPart["block"], delta: string): ProviderEvent {
  if (block.type === "tool_call") return { type: "tool_call_delta", id: block.id, delta };
  return block.type === "text" ? { type: "text_delta", delta } : { type: "thinking_delta", delta };
}

function endEvent(block: StreamedPart["block"]): ProviderEvent {
  switch (block.type) {
    case "text":
      return { type: "text_end", text: block.text };
    case "thinking": {
      const { thinking, signature } = block;
      return { type: "thinking_end", thinking, ...(signature !== undefined && { signature }) };
    }
    case "tool_call":
      return { type: "tool_call_end", id: block.id, name: block.name, input: block.input };
  }
}

function* stepsOfEvent(event: ScriptEvent): Generator<PlayedStep> {
  yield { event };
  if (event.type === "text_end") yield { block: { type: "text", text: event.text } };
  if (event.type === "thinking_end") {
    const { type: _, ...thinking } = event;
    yield { block: { type: "thinking", ...thinking } };
  }
  if (event.type === "tool_call_end") {
    const { type: _, ...call } = event;
    yield { block: { type: "tool_call", ...call } };
  }
}

// The usual rule of thumb for English text and code.
const CHARS_PER_TOKEN = 4;

/** The usage that a turn states; missing values are estimated from the request and the reply. */
export function scriptedUsage(
  scripted: ScriptTurn["usage"] = {},
  requestTokens: number,
  content: readonly ContentBlock[],
): Usage {
  return {
    inputTokens: scripted.inputTokens ?? requestTokens,
    outputTokens: scripted.outputTokens ?? toTokens(countContentCharacters(content)),
    cacheReadTokens: scripted.cacheReadTokens ?? 0,
    cacheWriteTokens: scripted.cacheWriteTokens ?? 0,
  };
}

/**
 * The usage of a reply that is written as events. If none of them reports usage, as with an aborted request, zeros
 * mean that nothing was reported and nothing is counted.
 */
export function repliedUsage(
  { usage }: Pick<ScriptReply, "usage">,
  { events = [] }: Pick<ScriptTurn, "events">,
): Usage {
  const isReported = events.some(({ type }) => type === "usage") || Object.values(usage).some(Boolean);
  return isReported ? usage : EMPTY_USAGE;
}

/** Tokens of a request: characters of system prompt, messages and tools, divided by four. */
export function estimateRequestTokens({ systemPrompt, messages, tools }: StreamContext): number {
  const inMessages = messages.reduce((sum, message) => sum + countMessageCharacters(message), 0);
  return toTokens(systemPrompt.length + inMessages + (tools.length > 0 ? JSON.stringify(tools).length : 0));
}

function toTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** A turn with the ids of its tool calls, in order. */
export interface NumberedTurn {
  turn: ScriptTurn;
  callIds: readonly string[];
}

/** Without `summaries`, requests for a summary take from `turns` like all others. */
export interface NumberedScript {
  turns: readonly NumberedTurn[];
  summaries: readonly NumberedTurn[] | undefined;
  /** True for a recording, which also contains the settings of its run. */
  isRecording: boolean;
}

/**
 * Gives each tool call of a script its id: the script's own, else `call_N`, where N counts the tool calls of the
 * whole script from 1, those of the summaries last. A session that is resumed in the middle of a script therefore
 * continues with the same ids.
 */
export function numberToolCalls({ turns, summaries, conditions }: Script): NumberedScript {
  let count = 0;
  const number = (turn: ScriptTurn): NumberedTurn => {
    if (turn.events) return { turn, callIds: idsOf(turn) };
    const callIds = (turn.toolCalls ?? []).map(({ id }) => {
      count++;
      return id ?? `call_${count}`;
    });
    return { turn, callIds };
  };
  return {
    turns: turns.map(number),
    summaries: summaries?.map(number),
    isRecording: conditions !== undefined,
  };
}

function idsOf({ events = [] }: ScriptTurn): string[] {
  return events.flatMap((event) => (event.type === "tool_call_start" ? [event.id] : []));
}

/** A turn that is written as a list of events. */
type StreamedTurn = ScriptTurn & { events: NonNullable<ScriptTurn["events"]> };

/** The turn with other ids for its calls, wherever they occur. @param rename is called once for each id. */
export function renameStreamedCalls(turn: StreamedTurn, rename: (id: string) => string): StreamedTurn {
  const ids = new Map<string, string>();
  const named = <T extends { id: string }>(call: T): T => {
    const id = ids.get(call.id) ?? rename(call.id);
    ids.set(call.id, id);
    return { ...call, id };
  };
  const { events, reply } = turn;
  return {
    ...turn,
    events: events.map((event) => ("id" in event ? named(event) : event)),
    ...(reply && {
      reply: {
        ...reply,
        content: reply.content.map((block) => (block.type === "tool_call" ? named(block) : block)),
      },
    }),
  };
}
