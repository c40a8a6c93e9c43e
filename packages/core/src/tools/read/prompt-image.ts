import { startsLikeImage } from "../../infrastructure/content/file-signature.ts";
import type { ImageBlock } from "../../types.ts";

/** An image for a prompt, and what it is, such as `Image a.png (image/png, 640x480, 12 KB)`. */
export interface PromptImage {
  image: ImageBlock;
  description: string;
}

/**
 * The image in a file's bytes, made smaller where a provider would refuse it; undefined for what is no PNG, JPEG, GIF or
 * WebP, whatever its name says.
 *
 * @param path how it is called in what is said about it.
 * @throws Error when it cannot be decoded.
 */
export async function readPromptImage(path: string, bytes: Uint8Array): Promise<PromptImage | undefined> {
  if (!startsLikeImage(bytes)) return undefined;
  const { readImage } = await import("./read-image.ts");
  const result = await readImage(path, bytes);
  const image = result?.images?.[0];
  return result && image && { image, description: result.output };
}
