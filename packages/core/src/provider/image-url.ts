import type { ImageBlock } from "../types.ts";

/** The image as a `data:` address, which is how OpenAI's APIs take it; undefined for a type that they do not take. */
export function toImageUrl({ source: { mediaType, data } }: ImageBlock): string | undefined {
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType) ? `data:${mediaType};base64,${data}` : undefined;
}

/** What stands in the place of an image that cannot be sent. */
export function toUnsentImageNote({ source }: ImageBlock): string {
  return `[An image of type ${source.mediaType} cannot be sent.]`;
}
