import { expect, test } from "bun:test";
import { checkAnthropicRequest } from "./support/anthropic-wire-check.ts";
import { pngBytes } from "./support/messages.ts";

const TOOLS = [{ name: "read", input_schema: { type: "object" } }];
const CALL = { type: "tool_use", id: "a", name: "read", input: {} };
const RESULT = { type: "tool_result", tool_use_id: "a", content: "done" };
const TEXT = { type: "text", text: "hi" };
const MARKER = { cache_control: { type: "ephemeral" } };

function conversation(...contents: unknown[][]) {
  const messages = contents.map((content, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content,
  }));
  return { model: "m", max_tokens: 4000, stream: true, messages, tools: TOOLS };
}

function imageOf(bytes: Uint8Array, mediaType = "image/png") {
  const data = Buffer.from(bytes).toString("base64");
  return { type: "image", source: { type: "base64", media_type: mediaType, data } };
}

test("a valid request has no problem", () => {
  expect(
    checkAnthropicRequest(conversation([TEXT, imageOf(pngBytes(2, 2))], [CALL], [RESULT, TEXT])),
  ).toEqual([]);
});

test.each<[string, unknown]>([
  ["no body", null],
  ["no messages", conversation()],
  ["empty content", conversation([])],
  ["assistant first", { ...conversation(), messages: [{ role: "assistant", content: "hi" }] }],
  ["prefill", conversation([TEXT], [TEXT])],
  [
    "white space at the end of a paused turn",
    conversation(
      [TEXT],
      [
        { type: "server_tool_use", id: "s" },
        { type: "text", text: "I look. " },
      ],
    ),
  ],
  ["blank text", conversation([{ type: "text", text: " " }])],
  ["blank string", { ...conversation(), messages: [{ role: "user", content: "" }] }],
  ["blank system", { ...conversation([TEXT]), system: "" }],
  ["unanswered call", conversation([TEXT], [CALL], [TEXT])],
  ["orphan result", conversation([RESULT])],
  ["late result", conversation([TEXT], [CALL], [TEXT], [TEXT], [RESULT])],
  ["second result", conversation([TEXT], [CALL], [RESULT, RESULT])],
  ["result behind text", conversation([TEXT], [CALL], [TEXT, RESULT])],
  ["result that is empty", conversation([TEXT], [CALL], [{ ...RESULT, content: "" }])],
  ["id twice", conversation([TEXT], [CALL], [RESULT], [CALL], [RESULT])],
  ["id out of pattern", conversation([TEXT], [{ ...CALL, id: "a|b" }], [{ ...RESULT, tool_use_id: "a|b" }])],
  ["input that is a list", conversation([TEXT], [{ ...CALL, input: [] }], [RESULT])],
  ["no tools", { ...conversation([TEXT], [CALL], [RESULT]), tools: [] }],
  ["tool name", { ...conversation([TEXT]), tools: [{ ...TOOLS[0], name: "a b" }] }],
  [
    "unsigned thinking",
    conversation([TEXT], [{ type: "thinking", thinking: "hm", signature: "" }, TEXT], [TEXT]),
  ],
  [
    "thinking last",
    conversation([TEXT], [TEXT, { type: "thinking", thinking: "hm", signature: "s" }], [TEXT]),
  ],
  [
    "marked thinking",
    conversation([TEXT], [{ type: "redacted_thinking", data: "x", ...MARKER }, TEXT], [TEXT]),
  ],
  ["five markers", conversation(Array.from({ length: 5 }, () => ({ ...TEXT, ...MARKER })))],
  [
    "budget above the answer",
    { ...conversation([TEXT]), thinking: { type: "enabled", budget_tokens: 4000 } },
  ],
  [
    "budget below its minimum",
    { ...conversation([TEXT]), thinking: { type: "enabled", budget_tokens: 1000 } },
  ],
  ["extra field", conversation([{ ...TEXT, replay: {} }])],
  ["extra top field", { ...conversation([TEXT]), temperature: 1 }],
  ["lone surrogate", conversation([{ type: "text", text: "a\ud83d" }])],
  ["image side", conversation([imageOf(pngBytes(8001, 2))])],
  ["image type", conversation([imageOf(pngBytes(2, 2), "image/jpeg")])],
  ["image bytes", conversation([imageOf(new Uint8Array([1, 2, 3]))])],
  ["image size", conversation([imageOf(pngBytes(2, 2, 4 * 1024 * 1024))])],
  ["21 images", conversation(Array.from({ length: 21 }, () => imageOf(pngBytes(2, 2))))],
  ["assistant image", conversation([TEXT], [imageOf(pngBytes(2, 2)), TEXT], [TEXT])],
  ["server call unanswered", conversation([TEXT], [{ type: "server_tool_use", id: "s" }, TEXT], [TEXT])],
])("the wire check rejects: %s", (_, body) => {
  expect(checkAnthropicRequest(body)).not.toEqual([]);
});
