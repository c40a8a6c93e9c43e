import { expect, test } from "bun:test";
import { inspectImage } from "../../src/infrastructure/text/images.ts";
import { pngBytes } from "../support/messages.ts";

const PIXEL_GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
const PIXEL_LOSSLESS_WEBP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==";
const PIXEL_LOSSY_WEBP = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA";
const PIXEL_JPEG =
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////" +
  "wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=";

function decode(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, "base64"));
}

test("type and size are read from the bytes of every kind", () => {
  expect(inspectImage(pngBytes(640, 480))).toEqual({ mediaType: "image/png", width: 640, height: 480 });
  expect(inspectImage(decode(PIXEL_GIF))).toEqual({ mediaType: "image/gif", width: 1, height: 1 });
  expect(inspectImage(decode(PIXEL_LOSSY_WEBP))).toEqual({ mediaType: "image/webp", width: 1, height: 1 });
  expect(inspectImage(decode(PIXEL_LOSSLESS_WEBP))).toEqual({ mediaType: "image/webp", width: 1, height: 1 });
  const jpeg = Buffer.concat([decode(PIXEL_JPEG), Buffer.from([0xff, 0xd9])]);
  expect(inspectImage(jpeg)).toEqual({ mediaType: "image/jpeg", width: 1, height: 1 });
});

test("an extended WebP has the size of its canvas", () => {
  const bytes = Buffer.alloc(30);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(22, 4);
  bytes.write("WEBPVP8X", 8, "latin1");
  bytes.writeUIntLE(8000, 24, 3);
  bytes.writeUIntLE(99_999, 27, 3);
  expect(inspectImage(bytes)).toEqual({ mediaType: "image/webp", width: 8001, height: 100_000 });
});

test("no kind is recognized if the file ends before its image data", () => {
  const whole = [pngBytes(3, 3), decode(PIXEL_GIF), decode(PIXEL_LOSSY_WEBP), decode(PIXEL_LOSSLESS_WEBP)];
  for (const bytes of [...whole.map((image) => image.subarray(0, -8)), decode(PIXEL_JPEG)]) {
    for (let length = 0; length <= bytes.length; length++) {
      expect(inspectImage(bytes.subarray(0, length))).toBeUndefined();
    }
  }
});

test("text, an empty file and an image without a side are not images", () => {
  expect(inspectImage(new TextEncoder().encode("#!/bin/sh\necho logo.png"))).toBeUndefined();
  expect(inspectImage(new Uint8Array())).toBeUndefined();
  expect(inspectImage(pngBytes(0, 10))).toBeUndefined();
});

test("bytes in the middle of a larger buffer are read from where they begin", () => {
  const padded = Buffer.concat([Buffer.alloc(7), pngBytes(5, 6)]);
  expect(inspectImage(padded.subarray(7))).toEqual({ mediaType: "image/png", width: 5, height: 6 });
});
