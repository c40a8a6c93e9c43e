import { expect, test } from "bun:test";
import { readPromptImage } from "../../src/tools/read/read-image.ts";

/** The smallest GIF there is: one transparent pixel. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

test("an image is recognized by its bytes", async () => {
  expect(await readPromptImage("dot.gif", GIF)).toEqual({
    image: {
      type: "image",
      source: { type: "base64", mediaType: "image/gif", data: GIF.toString("base64") },
    },
    description: `Image dot.gif (image/gif, 1x1, ${GIF.length} bytes)`,
  });
});

test("bytes that are not an image are undefined, whatever the name", async () => {
  expect(await readPromptImage("a.png", Buffer.from("text"))).toBeUndefined();
  expect(await readPromptImage("a.png", Buffer.alloc(0))).toBeUndefined();
});

test("a truncated image is undefined", async () => {
  expect(await readPromptImage("a.gif", GIF.subarray(0, 36))).toBeUndefined();
});
