import type { AssistantMessage, ContentBlock, ToolCallBlock, Usage } from "../types.ts";
import { assertNever, toolCallsOf } from "../types.ts";
import type { ProviderError } from "./errors.ts";
import { splitIntoChunks, toMessageBlocks, toReplyParts, toReplyStop } from "./scripted-reply.ts";
import type { ScriptBlock, ScriptToolCall, ScriptTurn } from "./scripted-schema.ts";
import { StreamedPieces } from "./streamed-pieces.ts";
import type { ProviderEvent } from "./types.ts";

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

/** What is streamed of one reply, until it can be told as a turn of a script. */
export class RecordedReply {
  private readonly streamed = new StreamedPieces();
  private usage: Usage | undefined;

  note(event: ProviderEvent): void {
    if (event.type === "usage") this.usage = event.usage;
    else this.streamed.note(event);
  }

  /** The turn of a reply that came to its end, be it an abort. */
  toTurn(message: AssistantMessage): ScriptTurn {
    const blocks = toolCallsOf(message);
    const isCut = message.stopReason === "max_tokens";
    const toolCalls = blocks.map((block, index) => {
      const isLastCut = isCut && index === blocks.length - 1 && block.invalidInput !== undefined;
      return toScriptCall(block, this.inputOf(block), isLastCut);
    });
    const words = { thinking: wordsOf(message, "thinking"), text: wordsOf(message, "text"), toolCalls };
    const turn = { ...spoken(words), ...stopOf(message), usage: { ...message.usage } };
    const callIds = blocks.map(({ id }) => id);
    const isAllSaid = Bun.deepEquals(toMessageBlocks(toReplyParts({ turn, callIds })), message.content);
    return {
      ...spoken(words),
      ...(!isAllSaid && { content: message.content.flatMap((block) => toScriptBlock(block, words)) }),
      ...chunksOf(isAllSaid ? this.usualParts(message) : this.partsOf(message)),
      ...stopOf(message),
      usage: { ...message.usage },
    };
  }

  /** The turn of a request that failed, with what had come of a reply. */
  toFailedTurn({ errorType, message, retryAfterMs }: ProviderError): ScriptTurn {
    const { streamed } = this;
    const [thinking, text] = [streamed.all("thinking"), streamed.all("text")];
    const toolCalls = streamed.calls.map(({ id, name, pieces }) => ({ id, name, input: pieces.join("") }));
    return {
      ...spoken({ thinking: thinking.join(""), text: text.join(""), toolCalls }),
      ...chunksOf([
        { text: thinking.join(""), pieces: thinking },
        { text: text.join(""), pieces: text },
        ...streamed.calls.map(({ pieces }) => ({ text: pieces.join(""), pieces })),
      ]),
      ...(this.usage && { usage: { ...this.usage } }),
      error: {
        errorType,
        message: message || errorType,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    };
  }

  /** In the order of a turn without `content`. */
  private usualParts(message: AssistantMessage): StreamedPart[] {
    const { streamed } = this;
    return [
      { text: wordsOf(message, "thinking"), pieces: streamed.all("thinking") },
      { text: wordsOf(message, "text"), pieces: streamed.all("text") },
      ...toolCallsOf(message).map((block) => this.partOfCall(block)),
    ];
  }

  /** In the order of the message. */
  private partsOf(message: AssistantMessage): StreamedPart[] {
    const pieces = { thinking: this.streamed.each("thinking"), text: this.streamed.each("text") };
    return message.content.flatMap((block) => {
      if (block.type === "tool_call") return [this.partOfCall(block)];
      if (block.type !== "text" && block.type !== "thinking") return [];
      const text = block.type === "text" ? block.text : block.thinking;
      return [{ text, pieces: pieces[block.type].shift() ?? [] }];
    });
  }

  private partOfCall(block: ToolCallBlock): StreamedPart {
    return { text: this.inputOf(block), pieces: this.streamed.piecesOfCall(block.id) ?? [] };
  }

  /** The text of the arguments as the model wrote it; where nobody saw that, the JSON of what they were taken for. */
  private inputOf({ id, input, invalidInput }: ToolCallBlock): string {
    if (invalidInput !== undefined) return invalidInput;
    const streamed = this.streamed.piecesOfCall(id)?.join("") ?? "";
    const isSame = streamed === "" ? Object.keys(input).length === 0 : Bun.deepEquals(parse(streamed), input);
    return isSame ? streamed : JSON.stringify(input);
  }
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
