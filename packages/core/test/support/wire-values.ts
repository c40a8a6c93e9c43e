import { inspectImage } from "../../src/infrastructure/text/images.ts";
import { asRecord } from "../../src/provider/wire-format.ts";

const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** What every API refuses about an image in base64; the limits are the narrowest ones, Anthropic's. */
export function checkImageData(mediaType: string, data: string, path: string): string[] {
  if (!IMAGE_TYPES.includes(mediaType)) return [`${path}: unsupported image source`];
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data) || data.length % 4 !== 0) return [`${path}: invalid base64`];
  if (data.length > 5 * 1024 * 1024) return [`${path}: image exceeds 5 MB maximum`];
  const header = inspectImage(Buffer.from(data, "base64"));
  if (!header) return [`${path}: could not process image`];
  return [
    ...(header.mediaType === mediaType ? [] : [`${path}: media type does not match the image`]),
    ...(Math.max(header.width, header.height) > 8000 ? [`${path}: image dimensions exceed 8000 pixels`] : []),
  ];
}

/** Strings and keys anywhere in a value that are no valid Unicode. */
export function findLoneSurrogates(value: unknown, path: string): string[] {
  if (typeof value === "string") return value.isWellFormed() ? [] : [`${path}: no valid Unicode`];
  if (Array.isArray(value))
    return value.flatMap((item, index) => findLoneSurrogates(item, `${path}.${index}`));
  return Object.entries(asRecord(value)).flatMap(([key, item]) => [
    ...(key.isWellFormed() ? [] : [`${path}: a key is no valid Unicode`]),
    ...findLoneSurrogates(item, `${path}.${key}`),
  ]);
}
