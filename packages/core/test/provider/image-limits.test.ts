import { expect, test } from "bun:test";
import { limitImages } from "../../src/provider/images.ts";
import type { Message } from "../../src/types.ts";
import { assistant, call, image, pngBytes, result, text, user } from "../support/messages.ts";

const DROPPED = "[An older image was here; it was left out to keep the request small.]";

/** One letter for each image of the messages: kept, dropped for age, or left out for another reason. */
function fatesOf(messages: Message[]): string {
  return messages
    .flatMap((message) =>
      message.role === "user" && typeof message.content !== "string" ? message.content : [],
    )
    .map((block) => {
      if (block.type === "image") return "k";
      return block.type === "text" && block.text === DROPPED ? "d" : "x";
    })
    .join("");
}

test("messages without images stay the same objects", () => {
  const message = user("hi");
  expect(limitImages([message])[0]).toBe(message);
});

test("a wrong media type, a data prefix and line breaks are corrected from the bytes", () => {
  const data = Buffer.from(pngBytes(2, 2)).toString("base64");
  const wrong = image(pngBytes(2, 2), "image/jpeg");
  const prefixed = {
    ...image(),
    source: { ...image().source, data: `data:image/png;base64,${data.slice(0, 20)}\n${data.slice(20)}` },
  };
  expect(limitImages([user([wrong, prefixed])])).toEqual([user([image(), image()])]);
});

test("an image that is too large or incomplete becomes a note that says so", () => {
  const messages = [
    user([
      image(pngBytes(8001, 20)),
      image(pngBytes(10, 10, 4 * 1024 * 1024)),
      image(pngBytes(3, 3).subarray(0, 60)),
      image(new TextEncoder().encode("just text")),
    ]),
  ];
  expect(limitImages(messages)).toEqual([
    user([
      text("[An image of 8001x20 pixels was left out: the limit is 8000 a side.]"),
      text("[An image of 5.3 MB was left out: the limit is 5 MB in base64.]"),
      text("[A file was left out: it is not a complete PNG, JPEG, GIF or WebP image.]"),
      text("[A file was left out: it is not a complete PNG, JPEG, GIF or WebP image.]"),
    ]),
  ]);
});

test("a result keeps its text and its valid images, with the notes after the text", () => {
  const turn = assistant([call("a"), call("b")]);
  const bad = image(new Uint8Array([1]));
  const note = "[A file was left out: it is not a complete PNG, JPEG, GIF or WebP image.]";
  const messages = [turn, result("a", "two", { images: [bad, image()] }), result("b", "", { images: [bad] })];
  expect(limitImages(messages)).toEqual([
    turn,
    result("a", `two\n${note}`, { images: [image()] }),
    result("b", note, { images: [] }),
  ]);
});

test("of more than twenty images the oldest six are dropped together, and no more until the limit is reached again", () => {
  const fatesFor = (count: number) =>
    fatesOf(limitImages(Array.from({ length: count }, () => user([image()]))));
  expect(fatesFor(20)).toBe("k".repeat(20));
  expect(fatesFor(21)).toBe(`${"d".repeat(6)}${"k".repeat(15)}`);
  expect(fatesFor(26)).toBe(`${"d".repeat(6)}${"k".repeat(20)}`);
  expect(fatesFor(27)).toBe(`${"d".repeat(12)}${"k".repeat(15)}`);
});

test("large images are dropped by their total size, never the newest", () => {
  const large = image(pngBytes(2, 2, 3.5 * 1024 * 1024));
  const fatesFor = (count: number) =>
    fatesOf(limitImages(Array.from({ length: count }, () => user([large]))));
  expect(fatesFor(4)).toBe("kkkk");
  expect(fatesFor(5)).toBe("dddkk");
  expect(fatesFor(7)).toBe("dddkkkk");
});
