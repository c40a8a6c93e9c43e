import type {
  ResponseFunctionCallOutputItem,
  ResponseInputContent,
  ResponseInputItem,
} from "openai/resources/responses/responses";
import { toSendableHistory } from "../history.ts";
import { isBlank } from "../result-texts.ts";
import type { ImageBlock, Message, ToolResultMessage, UserMessage } from "../types.ts";
import { createWireIds } from "./call-names.ts";
import { limitImages } from "./image-limits.ts";
import { toImageUrl, toUnsentImageNote } from "./image-url.ts";
import { findUnansweredItems } from "./openai-server-items.ts";
import { toTurnItems } from "./openai-turn.ts";
import { withToolsAsText } from "./tool-text.ts";

/** Stands where an answer is asked for and there is nothing to answer. */
const CONTINUE: ResponseInputItem = { role: "user", content: "Continue." };

const MAX_ID_CHARS = 64;

/** What of a history cannot be sent. */
export interface InputOptions {
  /** Without tools, calls and results are sent as text. */
  hasTools: boolean;
  /** A model that does not reason refuses the reasoning of one that does. */
  takesReasoning: boolean;
  /** What the API has refused: reasoning, by its encrypted content, and ids of other items. */
  refused: ReadonlySet<string>;
}

/**
 * The conversation as the API takes it, whatever the history looks like: every call has one output, no id comes twice, and
 * reasoning goes back only together with what it led to.
 */
export function toOpenAIInput(messages: readonly Message[], options: InputOptions): ResponseInputItem[] {
  const history = limitImages(toSendableHistory(messages));
  const sendable = options.hasTools ? history : withToolsAsText(history);
  const toWireId = createWireIds(MAX_ID_CHARS);
  const context = {
    toWireId,
    takesReasoning: options.takesReasoning,
    refused: options.refused,
    unanswered: findUnansweredItems(sendable),
    // An id that was refused goes no more than one that was used.
    usedIds: new Set(options.refused),
  };
  const items = sendable.flatMap((message): ResponseInputItem[] => {
    if (message.role === "assistant") return toTurnItems(message, context);
    return [message.role === "user" ? toUserItem(message) : toOutputItem(message, toWireId)];
  });
  return wantsAnswer(items.at(-1)) ? items : [...items, CONTINUE];
}

function wantsAnswer(last: ResponseInputItem | undefined): boolean {
  if (!last) return false;
  return last.type === "function_call_output" || ("role" in last && last.role === "user");
}

function toUserItem({ content }: UserMessage): ResponseInputItem {
  if (typeof content === "string") return { role: "user", content: content.toWellFormed() };
  const parts = content.flatMap((block): ResponseInputContent[] => {
    if (block.type === "text") return [toTextPart(block.text)];
    return block.type === "image" ? [toImagePart(block)] : [];
  });
  return { role: "user", content: parts };
}

function toOutputItem(message: ToolResultMessage, toWireId: (id: string) => string): ResponseInputItem {
  const text = isBlank(message.output) ? [] : [toTextPart(message.output)];
  const images = (message.images ?? []).map((image): ResponseFunctionCallOutputItem => toImagePart(image));
  return {
    type: "function_call_output",
    call_id: toWireId(message.toolCallId),
    output: images.length > 0 ? [...text, ...images] : message.output.toWellFormed(),
  };
}

function toTextPart(text: string) {
  return { type: "input_text" as const, text: text.toWellFormed() };
}

function toImagePart(image: ImageBlock) {
  const url = toImageUrl(image);
  if (url === undefined) return toTextPart(toUnsentImageNote(image));
  return { type: "input_image" as const, detail: "auto" as const, image_url: url };
}
