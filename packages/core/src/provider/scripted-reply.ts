import { isBlank } from "../result-texts.ts";
import type {
  ContentBlock,
  OpaqueBlock,
  StopReason,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
} from "../types.ts";
import { assertNever } from "../types.ts";
import { isRecord, parseJson } from "./json-value.ts";
import type { NumberedTurn } from "./scripted-calls.ts";
import type { ScriptBlock, ScriptToolCall, ScriptTurn } from "./scripted-schema.ts";

/** One block of a reply that is streamed, with its text: for a tool call the JSON of its arguments. */
export interface StreamedPart {
  block: Extract<ContentBlock, { type: "text" | "thinking" | "tool_call" }>;
  streamed: string;
}

/** One block of a reply; what only a provider understands is not streamed. */
export type ReplyPart = StreamedPart | { block: OpaqueBlock };

/** True for a part whose text goes out in chunks; opaque blocks are only in the finished message. */
export function isStreamed(part: ReplyPart): part is StreamedPart {
  return part.block.type !== "opaque";
}

/** How a reply ends. `rawStopReason` is the script's word, left out where it gives none or says `aborted`. */
export interface ReplyStop {
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
export function* splitBySizes(
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
