import type { AssistantMessage, ContentBlock, ToolCallBlock, Usage } from "../types.ts";
import { assertNever, toolCallsOf } from "../types.ts";
import type { ProviderError } from "./errors.ts";
import { splitIntoChunks, toMessageBlocks, toReplyParts, toReplyStop } from "./scripted-reply.ts";
import type { ScriptBlock, ScriptToolCall, ScriptTurn } from "./scripted-schema.ts";
import type { StreamedPieces } from "./streamed-pieces.ts";

interface Spoken {
  thinking: string;
  text: string;
  toolCalls: ScriptToolCall[];
}

/** A text of a reply, and the pieces that it came in. */
interface StreamedPart {
  text: string;
  pieces: readonly string[];
}

/** What a reply came in: its pieces, and the tokens it reported at its beginning and at its end, where it did. */
export interface StreamedReply {
  pieces: StreamedPieces;
  startUsage: Usage | undefined;
  endUsage: Usage | undefined;
}

/** A reply that came to its end as somebody would write it down who writes a script by hand. */
export function tellReply(message: AssistantMessage, { pieces, startUsage }: StreamedReply): ScriptTurn {
  const blocks = toolCallsOf(message);
  const isCut = message.stopReason === "max_tokens";
  const toolCalls = blocks.map((block, index) => {
    const isLastCut = isCut && index === blocks.length - 1 && block.invalidInput !== undefined;
    return toScriptCall(block, inputOf(block, pieces), isLastCut);
  });
  const words = { thinking: wordsOf(message, "thinking"), text: wordsOf(message, "text"), toolCalls };
  const said = { ...spoken(words), ...stopOf(message) };
  const parts = toReplyParts({ turn: said, callIds: blocks.map(({ id }) => id) });
  const isAllSaid = Bun.deepEquals(toMessageBlocks(parts.map(({ block }) => block)), message.content);
  return {
    ...spoken(words),
    ...(!isAllSaid && { content: message.content.flatMap((block) => toScriptBlock(block, words)) }),
    ...chunksOf(isAllSaid ? usualParts(message, pieces) : partsOf(message, pieces)),
    ...stopOf(message),
    ...(startUsage && { startUsage: { ...startUsage } }),
    usage: { ...message.usage },
  };
}

/** The same for a request that failed, with what had come of a reply. */
export function tellFailure(
  error: ProviderError,
  { pieces, startUsage, endUsage }: StreamedReply,
): ScriptTurn {
  const [thinking, text] = [pieces.all("thinking"), pieces.all("text")];
  const toolCalls = pieces.calls.map((call) => ({
    id: call.id,
    name: call.name,
    input: call.pieces.join(""),
  }));
  return {
    ...spoken({ thinking: thinking.join(""), text: text.join(""), toolCalls }),
    ...chunksOf([
      { text: thinking.join(""), pieces: thinking },
      { text: text.join(""), pieces: text },
      ...pieces.calls.map((call) => ({ text: call.pieces.join(""), pieces: call.pieces })),
    ]),
    ...(startUsage && { startUsage: { ...startUsage } }),
    ...(endUsage && { usage: { ...endUsage } }),
    error: toScriptError(error),
  };
}

/** What a script says of a failure. */
export function toScriptError({
  errorType,
  message,
  retryAfterMs,
  contextWindow,
}: ProviderError): NonNullable<ScriptTurn["error"]> {
  return {
    errorType,
    message: message || errorType,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(contextWindow !== undefined && { contextWindow }),
  };
}

/** In the order of a turn without `content`. */
function usualParts(message: AssistantMessage, pieces: StreamedPieces): StreamedPart[] {
  return [
    { text: wordsOf(message, "thinking"), pieces: pieces.all("thinking") },
    { text: wordsOf(message, "text"), pieces: pieces.all("text") },
    ...toolCallsOf(message).map((block) => partOfCall(block, pieces)),
  ];
}

/** In the order of the message. */
function partsOf(message: AssistantMessage, streamed: StreamedPieces): StreamedPart[] {
  const pieces = { thinking: streamed.each("thinking"), text: streamed.each("text") };
  return message.content.flatMap((block) => {
    if (block.type === "tool_call") return [partOfCall(block, streamed)];
    if (block.type !== "text" && block.type !== "thinking") return [];
    const text = block.type === "text" ? block.text : block.thinking;
    return [{ text, pieces: pieces[block.type].shift() ?? [] }];
  });
}

function partOfCall(block: ToolCallBlock, pieces: StreamedPieces): StreamedPart {
  return { text: inputOf(block, pieces), pieces: pieces.piecesOfCall(block.id) ?? [] };
}

/** The text of the arguments as the model wrote it; where nobody saw that, the JSON of what they were taken for. */
function inputOf({ id, input, invalidInput }: ToolCallBlock, pieces: StreamedPieces): string {
  if (invalidInput !== undefined) return invalidInput;
  const streamed = pieces.piecesOfCall(id)?.join("") ?? "";
  const isSame = streamed === "" ? Object.keys(input).length === 0 : Bun.deepEquals(parse(streamed), input);
  return isSame ? streamed : JSON.stringify(input);
}

function spoken({ thinking, text, toolCalls }: Spoken) {
  return {
    ...(thinking !== "" && { thinking }),
    ...(text !== "" && { text }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

/** Where the pieces are not those that a script is streamed in anyway, and are pieces of what it says. */
function chunksOf(parts: readonly StreamedPart[]): Pick<ScriptTurn, "chunks"> {
  const isUsual = parts.every(({ text, pieces }) => Bun.deepEquals([...splitIntoChunks(text)], pieces));
  const isWhole = parts.every(({ text, pieces }) => pieces.join("") === text);
  if (isUsual || !isWhole) return {};
  return { chunks: parts.flatMap(({ pieces }) => pieces.map(({ length }) => length)) };
}

/** The turn says one text and one thinking; of several, each block of its `content` says its own. */
function wordsOf({ content }: AssistantMessage, type: "text" | "thinking"): string {
  const texts = content.flatMap((block) => {
    if (block.type !== type) return [];
    return [block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : ""];
  });
  const [only = "", ...more] = texts;
  return more.length > 0 ? "" : only;
}

/** The block, without what the turn says of it already. */
function toScriptBlock(block: ContentBlock, { thinking, text }: Spoken): ScriptBlock[] {
  switch (block.type) {
    case "thinking": {
      const { thinking: own, ...rest } = block;
      return [own === thinking ? rest : block];
    }
    case "text": {
      const { text: own, ...rest } = block;
      return [own === text ? rest : block];
    }
    case "tool_call":
      return [{ type: "tool_call", ...(block.replay && { replay: block.replay }) }];
    case "opaque":
      return [block];
    case "image":
      // No model answers with one.
      return [];
    default:
      return assertNever(block);
  }
}

/** An object where its JSON is what was streamed, for readers; else the text, word for word. */
function toScriptCall({ id, name, input }: ToolCallBlock, text: string, isCut: boolean): ScriptToolCall {
  // A script takes the last character from the arguments of a reply that was cut off.
  if (isCut) return { id, name, input: `${text}}` };
  return { id, name, input: text === JSON.stringify(input) ? input : text };
}

/** The provider's own word where a script makes the same of it, else ours; left out where it goes without saying. */
function stopOf(message: AssistantMessage): Pick<ScriptTurn, "stopReason"> {
  const toolCalls = toolCallsOf(message) satisfies ScriptToolCall[];
  const { stopReason, rawStopReason } = message;
  const means = (word: string | undefined) =>
    toReplyStop({ toolCalls, ...(word !== undefined && { stopReason: word }) }).stopReason === stopReason;
  if (rawStopReason !== undefined && rawStopReason !== "" && means(rawStopReason))
    return { stopReason: rawStopReason };
  return means(undefined) && rawStopReason === undefined ? {} : { stopReason };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // No JSON is not what the arguments were taken for either.
    return undefined;
  }
}
