import { expect, test } from "bun:test";
import { checkCompatibleRequest } from "./support/compatible-wire-check.ts";
import { pngBytes } from "./support/messages.ts";

const TOOL = {
  type: "function",
  function: { name: "read", description: "", parameters: { type: "object" } },
};
const SYSTEM = { role: "system", content: "s" };
const USER = { role: "user", content: "hi" };
const ANSWER = { role: "assistant", content: "so" };
const CALL = toCall("a");
const RESULT = toResult("a");

function toCall(id: string, fields: Record<string, unknown> = {}) {
  const call = { id, type: "function", function: { name: "read", arguments: "{}" } };
  return { role: "assistant", content: null, tool_calls: [{ ...call, ...fields }] };
}

function toResult(id: string) {
  return { role: "tool", tool_call_id: id, content: "done" };
}

function request(...messages: unknown[]) {
  return { model: "m", stream: true, tools: [TOOL], messages };
}

function imageOf(mediaType: string) {
  const url = `data:${mediaType};base64,${Buffer.from(pngBytes(2, 2)).toString("base64")}`;
  return { role: "user", content: [{ type: "image_url", image_url: { url } }] };
}

test("a valid request has no problem", () => {
  const both = { ...CALL, tool_calls: [...CALL.tool_calls, ...toCall("b").tool_calls] };
  const messages = [
    SYSTEM,
    imageOf("image/png"),
    { ...both, content: "I look.", reasoning_content: "hm" },
    toResult("b"),
    RESULT,
    imageOf("image/png"),
    toCall("c", { extra_content: { google: {} } }),
    toResult("c"),
    ANSWER,
    USER,
  ];
  const options = { stream_options: { include_usage: true }, max_tokens: 1, reasoning_effort: "none" };
  expect(checkCompatibleRequest({ ...request(...messages), ...options })).toEqual([]);
});

test.each<[string, unknown]>([
  ["no body", null],
  ["no messages", request()],
  ["no model", { ...request(USER), model: "" }],
  ["unknown parameter", { ...request(USER), store: false }],
  ["max_completion_tokens", { ...request(USER), max_completion_tokens: 5 }],
  ["no tokens", { ...request(USER), max_tokens: 0 }],
  ["unknown effort", { ...request(USER), reasoning_effort: "xhigh" }],
  ["other stream options", { ...request(USER), stream_options: {} }],
  ["empty tool list", { ...request(USER), tools: [] }],
  ["flat tool", { ...request(USER), tools: [{ type: "function", name: "read", parameters: {} }] }],
  ["tool twice", { ...request(USER), tools: [TOOL, TOOL] }],
  ["calls without tools", { ...request(USER, CALL, RESULT), tools: undefined }],
  ["unknown role", request({ role: "developer", content: "x" })],
  ["late system message", request(USER, SYSTEM)],
  ["opening assistant", request(ANSWER, USER)],
  ["assistant after system", request(SYSTEM, ANSWER, USER)],
  ["two users", request(USER, USER)],
  ["two assistants", request(USER, ANSWER, ANSWER, USER)],
  ["answer at the end", request(USER, ANSWER)],
  ["empty content", request({ role: "user", content: " " })],
  ["empty list", request({ role: "user", content: [] })],
  ["empty part", request({ role: "user", content: [{ type: "text", text: "" }] })],
  ["list in a result", request(USER, CALL, { ...RESULT, content: [{ type: "text", text: "x" }] })],
  ["empty result", request(USER, CALL, { ...RESULT, content: "" })],
  ["null without calls", request(USER, { role: "assistant", content: null }, USER)],
  ["empty content beside calls", request(USER, { ...CALL, content: "" }, RESULT)],
  ["empty calls", request(USER, { ...ANSWER, tool_calls: [] }, USER)],
  ["thinking without calls", request(USER, { ...ANSWER, reasoning: "hm" }, USER)],
  ["unknown field of a message", request({ ...USER, name: "x" })],
  ["unknown field of a call", request(USER, toCall("a", { index: 0 }), RESULT)],
  ["call without id", request(USER, toCall(""), toResult(""))],
  ["arguments as an object", request(USER, toCall("a", { function: { name: "f", arguments: {} } }), RESULT)],
  ["name of a call", request(USER, toCall("a", { function: { name: "a b", arguments: "{}" } }), RESULT)],
  ["result without call", request(USER, RESULT)],
  ["result of another call", request(USER, CALL, toResult("b"))],
  ["call without result", request(USER, CALL, USER)],
  ["result behind a user", request(USER, CALL, USER, RESULT)],
  ["result twice", request(USER, CALL, RESULT, RESULT)],
  ["id twice", request(USER, CALL, RESULT, CALL, RESULT)],
  ["wrong image type", request(imageOf("image/jpeg"))],
  ["lone surrogate", request({ role: "user", content: "\ud83d" })],
])("%s is rejected", (_, body) => {
  expect(checkCompatibleRequest(body)).not.toEqual([]);
});
