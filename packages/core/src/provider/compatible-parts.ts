import type {
  ChatCompletionContentPart,
  ChatCompletionUserMessageParam,
} from "openai/resources/chat/completions";
import { isBlank } from "../result-texts.ts";
import type { ImageBlock, ToolResultMessage, UserMessage } from "../types.ts";
import { toImageUrl, toUnsentImageNote } from "./image-url.ts";

/** A text, or parts where there are images: not every server takes parts. */
export type UserContent = ChatCompletionUserMessageParam["content"];

const NO_IMAGES = "[An image was here; it was left out because the model takes none.]";

/** A user's words, with images as parts between them. Text alone is a string: not every server takes lists. */
export function toUserContent({ content }: UserMessage, takesImages: boolean): UserContent {
  if (typeof content === "string") return content.toWellFormed();
  const parts = content.flatMap((block): ChatCompletionContentPart[] => {
    if (block.type === "text") return [toTextPart(block.text)];
    return block.type === "image" ? [toImagePart(block, takesImages)] : [];
  });
  return toContent(parts);
}

/** What two user messages say, as one. */
export function joinContent(left: UserContent, right: UserContent): UserContent {
  return toContent([...toParts(left), ...toParts(right)]);
}

/** A result's text; it is never empty, and says where images are. */
export function toResultText({ output, images = [] }: ToolResultMessage, takesImages: boolean): string {
  const text = isBlank(output) ? [] : [output.toWellFormed()];
  if (images.length === 0) return text.join("");
  return [...text, takesImages ? "[The image follows in the next message.]" : NO_IMAGES].join("\n");
}

/** The images of results as a user's message; undefined when there are none. */
export function toImageContent(
  results: ReadonlyArray<{ result: ToolResultMessage; wireId: string }>,
): UserContent | undefined {
  const parts = results.flatMap(({ result, wireId }): ChatCompletionContentPart[] => {
    const { images = [], toolName } = result;
    if (images.length === 0) return [];
    const title = toTextPart(`[Image from the result of ${toolName}, call ${wireId}:]`);
    return [title, ...images.map((image) => toImagePart(image, true))];
  });
  return parts.length > 0 ? parts : undefined;
}

function toContent(parts: ChatCompletionContentPart[]): UserContent {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n\n") : parts;
}

function toParts(content: UserContent): ChatCompletionContentPart[] {
  return typeof content === "string" ? [toTextPart(content)] : content;
}

function toTextPart(text: string): ChatCompletionContentPart {
  return { type: "text", text: text.toWellFormed() };
}

function toImagePart(image: ImageBlock, takesImages: boolean): ChatCompletionContentPart {
  if (!takesImages) return toTextPart(NO_IMAGES);
  const url = toImageUrl(image);
  return url === undefined ? toTextPart(toUnsentImageNote(image)) : { type: "image_url", image_url: { url } };
}
