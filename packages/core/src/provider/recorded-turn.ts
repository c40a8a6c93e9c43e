import type { AssistantMessage, ToolCallBlock, Usage } from "../types.ts";
import { toolCallsOf } from "../types.ts";
import type { ProviderError } from "./errors.ts";
import { splitIntoChunks, toReplyStop } from "./scripted-reply.ts";
import type { ScriptToolCall, ScriptTurn } from "./scripted-schema.ts";
import type { ProviderEvent } from "./types.ts";

interface StreamedCall {
  id: string;
  name: string;
  pieces: string[];
}

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
  private readonly thinking: string[] = [];
  private readonly text: string[] = [];
  private readonly calls: StreamedCall[] = [];
  private usage: Usage | undefined;

  note(event: ProviderEvent): void {
    if (event.type === "thinking_delta") this.thinking.push(event.delta);
    else if (event.type === "text_delta") this.text.push(event.delta);
    else if (event.type === "usage") this.usage = event.usage;
    else if (event.type === "tool_call_start")
      this.calls.push({ id: event.id, name: event.name, pieces: [] });
    else if (event.type === "tool_call_delta") this.findCall(event.id)?.pieces.push(event.delta);
  }

  /** The turn of a reply that came to its end, be it an abort. */
  toTurn(message: AssistantMessage): ScriptTurn {
    const blocks = toolCallsOf(message);
    const isCut = message.stopReason === "max_tokens";
    const calls = blocks.map((block, index) => ({
      block,
      pieces: this.findCall(block.id)?.pieces ?? [],
      isCut: isCut && index === blocks.length - 1 && block.invalidInput !== undefined,
    }));
    const thinking = joinBlocks(message, "thinking");
    const text = joinBlocks(message, "text");
    const toolCalls = calls.map(({ block, pieces, isCut }) => toScriptCall(block, pieces.join(""), isCut));
    return {
      ...this.spoken({ thinking, text, toolCalls }),
      ...this.chunksOf([
        { text: thinking, pieces: this.thinking },
        { text, pieces: this.text },
        ...calls.map(({ block, pieces }) => ({ text: streamedInput(block, pieces.join("")), pieces })),
      ]),
      ...stopOf(message),
      usage: { ...message.usage },
    };
  }

  /** The turn of a request that failed, with what had come of a reply. */
  toFailedTurn({ errorType, message, retryAfterMs }: ProviderError): ScriptTurn {
    const [thinking, text] = [this.thinking.join(""), this.text.join("")];
    const toolCalls = this.calls.map(({ id, name, pieces }) => ({ id, name, input: pieces.join("") }));
    return {
      ...this.spoken({ thinking, text, toolCalls }),
      ...this.chunksOf([
        { text: thinking, pieces: this.thinking },
        { text, pieces: this.text },
        ...this.calls.map(({ pieces }) => ({ text: pieces.join(""), pieces })),
      ]),
      ...(this.usage && { usage: { ...this.usage } }),
      error: {
        errorType,
        message: message || errorType,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    };
  }

  private findCall(id: string): StreamedCall | undefined {
    return this.calls.findLast((call) => call.id === id);
  }

  private spoken({ thinking, text, toolCalls }: Spoken) {
    return {
      ...(thinking !== "" && { thinking }),
      ...(text !== "" && { text }),
      ...(toolCalls.length > 0 && { toolCalls }),
    };
  }

  /** Where the pieces are not those that a script is streamed in anyway, and are pieces of what it says. */
  private chunksOf(parts: readonly StreamedPart[]): Pick<ScriptTurn, "chunks"> {
    const isUsual = parts.every(({ text, pieces }) => Bun.deepEquals([...splitIntoChunks(text)], pieces));
    const isWhole = parts.every(({ text, pieces }) => pieces.join("") === text);
    if (isUsual || !isWhole) return {};
    return { chunks: parts.flatMap(({ pieces }) => pieces.map(({ length }) => length)) };
  }
}

/** A script has one text and one thinking in a turn; a reply may have several. */
function joinBlocks({ content }: AssistantMessage, type: "text" | "thinking"): string {
  const texts = content.flatMap((block) => {
    if (block.type !== type) return [];
    return [block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : ""];
  });
  return texts.join("\n\n");
}

/** The text of the arguments as the model wrote it; where nobody saw that, the JSON of what they were taken for. */
function streamedInput({ input, invalidInput }: ToolCallBlock, streamed: string): string {
  if (invalidInput !== undefined) return invalidInput;
  const isSame = streamed === "" ? Object.keys(input).length === 0 : Bun.deepEquals(parse(streamed), input);
  return isSame ? streamed : JSON.stringify(input);
}

/** An object where its JSON is what was streamed, for readers; else the text, word for word. */
function toScriptCall(block: ToolCallBlock, streamed: string, isCut: boolean): ScriptToolCall {
  const { id, name, input } = block;
  const text = streamedInput(block, streamed);
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
