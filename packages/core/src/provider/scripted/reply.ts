import { isBlank } from "../../history.ts";
import {
  assertNever,
  type ContentBlock,
  EMPTY_USAGE,
  type Message,
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

/** One block of a reply that is streamed, with its text: for a tool call the JSON of its arguments. */
interface StreamedPart {
  block: Extract<ContentBlock, { type: "text" | "thinking" | "tool_call" }>;
  streamed: string;
}

/** One block of a reply; what only a provider understands is not streamed. */
type ReplyPart = StreamedPart | { block: OpaqueBlock };

/** True for a part whose text goes out in chunks; opaque blocks are only in the finished message. */
function isStreamed(part: ReplyPart): part is StreamedPart {
  return part.block.type !== "opaque";
}

/** How a reply ends. `rawStopReason` is the script's word, left out where it gives none or says `aborted`. */
interface ReplyStop {
  stopReason: StopReason;
  rawStopReason?: string;
}

/**
 * The blocks of a turn in the order a model writes them: thinking, text, tool calls, or as its `content` has them. Empty
 * ones are left out, and no call is.
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

// Calls follow in any case.
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
  // Thinking that the provider keeps to itself has no words.
  const isKept = block.replay !== undefined || ("signature" in block && block.signature !== undefined);
  return streamed === "" && !isKept ? [] : [{ block, streamed }];
}

/** Why a turn stops. The words of providers mean what their adapters make of them. */
export function toReplyStop({ stopReason, toolCalls = [] }: ScriptTurn): ReplyStop {
  const usual = toolCalls.length > 0 ? "tool_use" : "end_turn";
  if (stopReason === undefined) return { stopReason: usual };
  // No provider's word: it says that the request was stopped here.
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

/** The blocks as they go into the message: without blank text, which a model may say but no provider takes back. */
export function toMessageBlocks(blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.filter((block) => block.type !== "text" || !isBlank(block.text));
}

function toCallPart({ name, input }: ScriptToolCall, id: string, isCut: boolean): StreamedPart {
  const whole = typeof input === "string" ? input : JSON.stringify(input);
  const call: ToolCallBlock = { type: "tool_call", id, name, input: {} };
  if (isCut) {
    // Without its last character, which is the closing brace: something a repairer could close.
    const streamed = whole.replace(/.$/su, "");
    return { block: { ...call, invalidInput: streamed }, streamed };
  }
  const parsed = parseArguments(whole);
  return { block: parsed ? { ...call, input: parsed } : { ...call, invalidInput: whole }, streamed: whole };
}

/** Arguments as an adapter reads them: nothing at all means none, and what is no JSON object is undefined. */
function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text === "") return {};
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
}

const WORDS_CHARS = 12;
// Text without spaces is cut at this length.
const LONGEST_CHUNK_CHARS = 36;

/**
 * A text in the pieces it is streamed in: `chunkChars` UTF-16 units each, or by default whole words of together about
 * 12. No piece ends inside a surrogate pair.
 */
export function* splitIntoChunks(text: string, chunkChars?: number): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = chunkChars === undefined ? findWordEnd(text, start) : pairSafeEnd(text, start + chunkChars);
    yield text.slice(start, end);
    start = end;
  }
}

/** A text in pieces of the sizes that are next, in UTF-16 units; what they leave is split as usual. */
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

/** What a turn does next: something is streamed, or a block of the reply is whole. */
export type PlayedStep = { event: ProviderEvent } | { block: ContentBlock };

/**
 * A turn step by step, up to its end; nothing for a request that fails at once, as with an overloaded server.
 * @param requestTokens what stands for the input where the turn does not say it.
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
// About what providers count for one image, whatever the length of its base64.
const IMAGE_CHARS = 1_200 * CHARS_PER_TOKEN;

/** What a turn says it used; whatever it leaves out is estimated from the request and the reply. */
export function scriptedUsage(
  scripted: ScriptTurn["usage"] = {},
  requestTokens: number,
  content: readonly ContentBlock[],
): Usage {
  return {
    inputTokens: scripted.inputTokens ?? requestTokens,
    outputTokens: scripted.outputTokens ?? toTokens(countContent(content)),
    cacheReadTokens: scripted.cacheReadTokens ?? 0,
    cacheWriteTokens: scripted.cacheWriteTokens ?? 0,
  };
}

/**
 * What a reply used that is told event by event. Where none of them reports any, as of a request that was stopped, zeros
 * mean that nothing was reported: it is not counted, here or there.
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
  const inMessages = messages.reduce((sum, message) => sum + countMessage(message), 0);
  return toTokens(systemPrompt.length + inMessages + (tools.length > 0 ? JSON.stringify(tools).length : 0));
}

function countMessage(message: Message): number {
  if (message.role !== "tool_result") return countContent(message.content);
  return message.output.length + (message.images?.length ?? 0) * IMAGE_CHARS;
}

function countContent(content: string | readonly ContentBlock[]): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, block) => sum + countBlock(block), 0);
}

function countBlock(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length;
    case "thinking":
      return block.thinking.length;
    case "image":
      return IMAGE_CHARS;
    case "tool_call":
      return (block.invalidInput ?? JSON.stringify(block.input)).length;
    case "opaque":
      return JSON.stringify(block.raw ?? "").length;
  }
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
  /** True for what was recorded, which says how a run went. */
  isRecording: boolean;
}

/**
 * Gives each tool call of a script its id: the script's own, else `call_N`, where N counts the tool calls of the
 * whole script from 1, those of the summaries last. A session that is resumed in mid script therefore continues
 * with the same ids.
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

/** A turn that is told event by event. */
type StreamedTurn = ScriptTurn & { events: NonNullable<ScriptTurn["events"]> };

/** Such a turn with other ids for its calls, wherever they stand. @param rename is asked once for each id. */
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
