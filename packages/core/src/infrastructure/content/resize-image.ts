import type { ImageHeader, ImageMediaType } from "./image-header.ts";

/** Anthropic refuses sides above 2,000 pixels once a request holds many images. */
export const MAX_IMAGE_SIDE = 2_000;
/** Of the file: the limit there is 5 MB of base64, which is 3.75 MB of file. */
export const MAX_IMAGE_BYTES = 3.5 * 1024 * 1024;
// Four bytes a pixel while it is decoded: 200 MB.
const MAX_PIXELS = 50_000_000;

/** An image within `MAX_IMAGE_SIDE` and `MAX_IMAGE_BYTES`; its type may be another than the file's. */
export interface SizedImage extends ImageHeader {
  bytes: Uint8Array;
}

/**
 * An image that providers accept: as it is when it fits, else smaller, keeping its proportions. Every image is decoded
 * once, since one with damaged pixels would be refused in each later request of the session. Throws when it cannot be decoded.
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
  throw new Error(`it stays above ${MAX_IMAGE_BYTES / 1024 / 1024} MB when made smaller`);
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
