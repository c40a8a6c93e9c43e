import { fileURLToPath } from "node:url";
import { type ContentBlock as AcpContent, RequestError } from "@agentclientprotocol/sdk";
import type { ContentBlock } from "@diligent/core/run";
import { describeError } from "../errors.ts";

/**
 * The content of a prompt for the model: texts, images, and embedded resources as texts with their names. A link is
 * named; the model reads it with its tools.
 * @throws RequestError for content that is not announced, such as audio, and for what is not an image.
 */
export async function toPromptContent(prompt: readonly AcpContent[]): Promise<string | ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  for (const block of prompt) blocks.push(...(await toBlocks(block)));
  const [first] = blocks;
  if (blocks.every((block) => block.type === "text" && block.text.trim() === ""))
    throw RequestError.invalidParams(undefined, "the prompt is empty");
  if (blocks.length === 1 && first?.type === "text") return first.text;
  return blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
}

async function toBlocks(block: AcpContent): Promise<ContentBlock[]> {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "image":
      return [await toImage(block.data)];
    case "resource_link":
      return [{ type: "text", text: `[${block.name}](${toPath(block.uri)})` }];
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return [{ type: "text", text: `${toPath(resource.uri)}:\n\n${resource.text}` }];
      if (resource.mimeType?.startsWith("image/")) return [await toImage(resource.blob)];
      return [{ type: "text", text: `[attached, but not text: ${toPath(resource.uri)}]` }];
    }
    default:
      throw RequestError.invalidParams(undefined, `content of type ${block.type} is not supported`);
  }
}

/** A file of this machine by its path, which tools understand. */
function toPath(uri: string): string {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri) : uri;
  } catch {
    return uri;
  }
}

async function toImage(data: string): Promise<ContentBlock> {
  const { readPromptImage } = await import("@diligent/core/interactive");
  try {
    const read = await readPromptImage("of the prompt", Buffer.from(data, "base64"));
    if (read) return read.image;
  } catch (error) {
    throw RequestError.invalidParams(undefined, describeError(error));
  }
  throw RequestError.invalidParams(undefined, "the image is not a PNG, JPEG, GIF or WebP image");
}
