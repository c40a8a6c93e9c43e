/** The types that `inspectImage` recognizes by their bytes. */
type ImageMediaType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** The type and size of an image; width and height in pixels, both above zero. */
interface ImageHeader {
  mediaType: ImageMediaType;
  width: number;
  height: number;
}

/**
 * Reads type and size from the bytes of a complete PNG, JPEG, GIF or WebP file, whatever its name. Undefined for other
 * formats and truncated files. Pixels are not decoded, so damage inside them is not detected.
 */
export function inspectImage(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = inspectPng(view) ?? inspectJpeg(view) ?? inspectGif(view) ?? inspectWebp(view);
  return header && header.width > 0 && header.height > 0 ? header : undefined;
}

function hasAscii(view: DataView, offset: number, text: string): boolean {
  if (offset + text.length > view.byteLength) return false;
  return [...text].every((char, index) => view.getUint8(offset + index) === char.charCodeAt(0));
}

function inspectPng(view: DataView): ImageHeader | undefined {
  if (!hasAscii(view, 0, "\x89PNG\r\n\x1a\n") || !hasAscii(view, 12, "IHDR") || view.byteLength < 33)
    return undefined;
  if (!endsWithPngEnd(view)) return undefined;
  return { mediaType: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
}

/**
 * A PNG is a sequence of chunks: length, name, data, checksum. It is complete when IEND is reached and there was data.
 */
function endsWithPngEnd(view: DataView): boolean {
  let hasData = false;
  for (let offset = 8; offset + 12 <= view.byteLength; offset += 12 + view.getUint32(offset)) {
    if (hasAscii(view, offset + 4, "IDAT")) hasData = true;
    if (hasAscii(view, offset + 4, "IEND")) return hasData;
  }
  return false;
}

const JPEG_START_OF_SCAN = 0xda;

/** The start-of-frame markers contain the size; C4, C8 and CC are in the same range and mean something else. */
function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function inspectJpeg(view: DataView): ImageHeader | undefined {
  if (!hasAscii(view, 0, "\xff\xd8\xff")) return undefined;
  let header: ImageHeader | undefined;
  for (let offset = 2; offset + 9 <= view.byteLength && view.getUint8(offset) === 0xff; ) {
    const marker = view.getUint8(offset + 1);
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    if (marker === JPEG_START_OF_SCAN) return hasJpegEnd(view, offset) ? header : undefined;
    if (isStartOfFrame(marker)) {
      header = {
        mediaType: "image/jpeg",
        width: view.getUint16(offset + 7),
        height: view.getUint16(offset + 5),
      };
    }
    offset += 2 + view.getUint16(offset + 2);
  }
  return undefined;
}

function hasJpegEnd(view: DataView, scanStart: number): boolean {
  // From the end, since the marker is nearly always last; cameras append their own data.
  for (let offset = view.byteLength - 2; offset > scanStart; offset--) {
    if (view.getUint8(offset) === 0xff && view.getUint8(offset + 1) === 0xd9) return true;
  }
  return false;
}

function inspectGif(view: DataView): ImageHeader | undefined {
  if (!hasAscii(view, 0, "GIF87a") && !hasAscii(view, 0, "GIF89a")) return undefined;
  if (view.byteLength < 13 || !hasGifFrame(view)) return undefined;
  return { mediaType: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** The size of a GIF color table in bytes; its flag and size share one packed byte. */
function gifColorTableBytes(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 0x07) + 1) : 0;
}

/** True when at least one frame is complete; players accept a file whose later frames or trailer are missing. */
function hasGifFrame(view: DataView): boolean {
  let offset = 13 + gifColorTableBytes(view.getUint8(10));
  while (offset + 10 <= view.byteLength) {
    const introducer = view.getUint8(offset);
    if (introducer === 0x2c) {
      const data = offset + 10 + gifColorTableBytes(view.getUint8(offset + 9)) + 1;
      return skipGifSubBlocks(view, data) !== undefined;
    }
    const next = introducer === 0x21 ? skipGifSubBlocks(view, offset + 2) : undefined;
    if (next === undefined) return false;
    offset = next;
  }
  return false;
}

function skipGifSubBlocks(view: DataView, start: number): number | undefined {
  for (let offset = start; offset < view.byteLength; ) {
    const size = view.getUint8(offset);
    if (size === 0) return offset + 1;
    offset += 1 + size;
  }
  return undefined;
}

function inspectWebp(view: DataView): ImageHeader | undefined {
  if (!hasAscii(view, 0, "RIFF") || !hasAscii(view, 8, "WEBP") || view.byteLength < 30) return undefined;
  if (8 + view.getUint32(4, true) > view.byteLength) return undefined;
  const size = webpSize(view);
  return size && { mediaType: "image/webp", ...size };
}

/** The three kinds of WebP (lossy, lossless and extended) store their size differently. */
function webpSize(view: DataView): { width: number; height: number } | undefined {
  if (hasAscii(view, 12, "VP8 ")) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
  if (hasAscii(view, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!hasAscii(view, 12, "VP8X")) return undefined;
  return { width: 1 + readUint24(view, 24), height: 1 + readUint24(view, 27) };
}

function readUint24(view: DataView, offset: number): number {
  return view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16);
}

/** Anthropic rejects sides above 2,000 pixels in requests with many images. */
const MAX_IMAGE_SIDE = 2_000;
/** Bytes of the file: the limit is 5 MB of base64, which is 3.75 MB of file. */
const MAX_IMAGE_BYTES = 3.5 * 1024 * 1024;
// Four bytes per pixel while it is decoded: 200 MB.
const MAX_PIXELS = 50_000_000;

/** An image within `MAX_IMAGE_SIDE` and `MAX_IMAGE_BYTES`; its type may differ from the file's. */
interface SizedImage extends ImageHeader {
  bytes: Uint8Array;
}

/**
 * An image that providers accept: unchanged when it fits, otherwise scaled down proportionally. Every image is decoded
 * once, since damaged pixels would be rejected in each later request of the session. @throws when it cannot be decoded.
 */
export async function fitImage(bytes: Uint8Array, header: ImageHeader): Promise<SizedImage> {
  const image = () => new Bun.Image(bytes, { maxPixels: MAX_PIXELS });
  const fits = Math.max(header.width, header.height) <= MAX_IMAGE_SIDE && bytes.length <= MAX_IMAGE_BYTES;
  if (fits) {
    await image().resize(1, 1).png().bytes();
    return { ...header, bytes };
  }
  const small = () =>
    image().resize(MAX_IMAGE_SIDE, MAX_IMAGE_SIDE, { fit: "inside", withoutEnlargement: true });
  const sameFormat = await encoded(small(), header.mediaType);
  if (sameFormat.bytes.length <= MAX_IMAGE_BYTES) return sameFormat;
  const asJpeg = await encoded(small(), "image/jpeg");
  if (asJpeg.bytes.length <= MAX_IMAGE_BYTES) return asJpeg;
  throw new Error(`it stays above ${MAX_IMAGE_BYTES / 1024 / 1024} MB when scaled down`);
}

async function encoded(image: Bun.Image, mediaType: ImageMediaType): Promise<SizedImage> {
  // There is no encoder for GIF.
  if (mediaType === "image/gif") return encoded(image, "image/png");
  if (mediaType === "image/png") image.png();
  else if (mediaType === "image/jpeg") image.jpeg({ quality: 85 });
  else image.webp({ quality: 85 });
  const bytes = await image.bytes();
  const { width, height } = await new Bun.Image(bytes).metadata();
  return { bytes, mediaType, width, height };
}
