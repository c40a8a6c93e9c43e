import { expect, test } from "bun:test";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";

/** An uncompressed bitmap of one colour, to make images of the other formats from. */
function makeBitmap(width: number, height: number): Buffer {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bitmap = Buffer.alloc(54 + row * height, 0x7f);
  bitmap.write("BM");
  bitmap.writeUInt32LE(bitmap.length, 2);
  bitmap.writeUInt32LE(54, 10);
  bitmap.writeUInt32LE(40, 14);
  bitmap.writeInt32LE(width, 18);
  bitmap.writeInt32LE(height, 22);
  bitmap.writeUInt16LE(1, 26);
  bitmap.writeUInt16LE(24, 28);
  bitmap.fill(0, 30, 54);
  return bitmap;
}

const png = (width: number, height: number) => new Bun.Image(makeBitmap(width, height)).png().bytes();

test("an image that fits is passed on unchanged, recognized by its content and not by its name", async () => {
  const files = makeFileWorkspace();
  const bytes = await png(20, 10);
  const path = files.put("picture.jpg", bytes);
  expect(await files.read({ file_path: "picture.jpg" })).toEqual({
    output: `Image ${path} (image/png, 20x10, ${bytes.length} bytes)`,
    images: [
      {
        type: "image",
        source: { type: "base64", mediaType: "image/png", data: Buffer.from(bytes).toString("base64") },
      },
    ],
    metadata: { mediaType: "image/png", width: 20, height: 10 },
  });
});

test("a larger image is scaled down in proportion", async () => {
  const files = makeFileWorkspace();
  files.put("wide.png", await png(8_001, 100));
  const { output, images, metadata } = await files.read({ file_path: "wide.png" });
  expect(output).toContain("8001x100");
  expect(output).toContain("shown as image/png 2000x25");
  expect(metadata).toEqual({ mediaType: "image/png", width: 2_000, height: 25 });
  const sent = Buffer.from(images?.[0]?.source.data ?? "", "base64");
  expect(await new Bun.Image(sent).metadata()).toEqual({ width: 2_000, height: 25, format: "png" });
});

test("a truncated or damaged image is rejected", async () => {
  const files = makeFileWorkspace();
  const bytes = Buffer.from(await png(300, 300));
  const path = files.put("cut.png", bytes.subarray(0, bytes.length - 20));
  expect(await failure(files.read({ file_path: "cut.png" }))).toStartWith(
    `Cannot show ${path}: the image is cut off or damaged (PNG image, `,
  );
  const data = bytes.indexOf("IDAT") + 4;
  files.put("bad.png", Buffer.from(bytes).fill(0xff, data, data + 200));
  expect(await failure(files.read({ file_path: "bad.png" }))).toContain("Cannot show");
});

test("text named .png is read as text", async () => {
  const files = makeFileWorkspace();
  files.put("a.png", "GIF89a is a format\n");
  expect(await files.read({ file_path: "a.png" })).toEqual({
    output: "1\tGIF89a is a format",
    metadata: { firstLine: 1, lastLine: 1 },
  });
});
