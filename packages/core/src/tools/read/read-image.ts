import { inspectImage } from "../../infrastructure/content/image-header.ts";
import { fitImage } from "../../infrastructure/content/resize-image.ts";
import type { ToolResult } from "../../tool/types.ts";
import { formatBytes } from "../target/format-bytes.ts";

/** The image for the model to see, or undefined when the bytes are no whole image. Throws when it cannot be decoded. */
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
