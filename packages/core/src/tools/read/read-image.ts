import { fitImage, inspectImage } from "../../infrastructure/text/images.ts";
import { startsLikeImage } from "../../infrastructure/text/text-file.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { ImageBlock } from "../../types.ts";
import { formatBytes } from "../target.ts";

/** The image for the model, or undefined when the bytes are not a complete image. @throws when it cannot be decoded. */
export async function readImage(path: string, bytes: Uint8Array): Promise<ToolResult | undefined> {
  const header = inspectImage(bytes);
  if (!header) return undefined;
  const { mediaType, width, height } = header;
  const facts = `${mediaType}, ${width}x${height}, ${formatBytes(bytes.length)}`;
  const sized = await fitImage(bytes, header).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Cannot show ${path} (${facts}): ${reason}. It may be damaged or too large; convert it first.`,
    );
  });
  const scaled = sized.bytes === bytes ? "" : `, shown as ${sized.mediaType} ${sized.width}x${sized.height}`;
  const data = Buffer.from(sized.bytes).toString("base64");
  return {
    output: `Image ${path} (${facts}${scaled})`,
    images: [{ type: "image", source: { type: "base64", mediaType: sized.mediaType, data } }],
    metadata: { mediaType: sized.mediaType, width: sized.width, height: sized.height },
  };
}

/** An image for a prompt, and its description, such as `Image a.png (image/png, 640x480, 12 KB)`. */
export interface PromptImage {
  image: ImageBlock;
  description: string;
}

/**
 * The image in a file's bytes, scaled down if a provider would reject it; undefined if they are not a PNG, JPEG, GIF or
 * WebP, whatever its name is.
 * @param path its name in messages.
 * @throws Error when it cannot be decoded.
 */
export async function readPromptImage(path: string, bytes: Uint8Array): Promise<PromptImage | undefined> {
  if (!startsLikeImage(bytes)) return undefined;
  const result = await readImage(path, bytes);
  const image = result?.images?.[0];
  return result && image && { image, description: result.output };
}
