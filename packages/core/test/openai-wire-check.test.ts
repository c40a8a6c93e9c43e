import { expect, test } from "bun:test";
import { pngBytes } from "./support/messages.ts";
import { checkOpenAIRequest } from "./support/openai-wire-check.ts";

const TOOL = { type: "function", name: "read", parameters: { type: "object" }, strict: false };
const USER = { role: "user", content: "hi" };
const CALL = { type: "function_call", call_id: "a", name: "read", arguments: "{}" };
const OUTPUT = { type: "function_call_output", call_id: "a", output: "done" };
const REASONING = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };
const OWN_CALL = { ...CALL, id: "fc_1_of_rs_1", status: "completed" };
const TEXT = { type: "output_text", text: "so", annotations: [] };
const MESSAGE = { type: "message", role: "assistant", id: "msg_1", status: "completed", content: [TEXT] };

function request(...input: unknown[]) {
  const reasoning = { effort: "low" };
  return { model: "m", stream: true, store: false, max_output_tokens: 4000, tools: [TOOL], reasoning, input };
}

function imageOf(mediaType: string, fields: Record<string, unknown> = { detail: "auto" }) {
  const data = Buffer.from(pngBytes(2, 2)).toString("base64");
  return { type: "input_image", image_url: `data:${mediaType};base64,${data}`, ...fields };
}

test("a valid request has no problem", () => {
  const images = [{ type: "input_text", text: "see" }, imageOf("image/png")];
  const body = request(
    { role: "user", content: images },
    REASONING,
    OWN_CALL,
    { ...OUTPUT, output: images },
    { type: "message", role: "assistant", content: "so", phase: "commentary" },
    MESSAGE,
    { type: "web_search_call", id: "ws_1", status: "completed" },
    USER,
  );
  expect(checkOpenAIRequest({ ...body, include: ["reasoning.encrypted_content"] })).toEqual([]);
});

test.each<[string, unknown]>([
  ["no body", null],
  ["no input", request()],
  ["unknown parameter", { ...request(USER), temperature: 1 }],
  ["stored", { ...request(USER), store: true }],
  ["too few tokens", { ...request(USER), max_output_tokens: 15 }],
  ["empty instructions", { ...request(USER), instructions: " " }],
  ["unknown effort", { ...request(USER), reasoning: { effort: "off" } }],
  ["tool without strict", { ...request(USER), tools: [{ ...TOOL, strict: undefined }] }],
  ["tool name", { ...request(USER), tools: [{ ...TOOL, name: "a b" }] }],
  ["tool twice", { ...request(USER), tools: [TOOL, TOOL] }],
  ["no tools", { ...request(USER, CALL, OUTPUT), tools: undefined }],
  ["unknown role", request({ role: "tool", content: "x" })],
  ["empty content", request({ role: "user", content: "" })],
  ["empty list", request({ role: "user", content: [] })],
  ["input part from the assistant", request({ ...MESSAGE, content: [{ type: "input_text", text: "x" }] })],
  ["output part from the user", request({ role: "user", content: [TEXT] })],
  ["list without id", request({ ...MESSAGE, id: undefined })],
  ["phase of a user", request({ ...USER, phase: "commentary" })],
  ["output_text without annotations", request({ ...MESSAGE, content: [{ type: "output_text", text: "x" }] })],
  ["unknown field of an item", request({ ...CALL, input: {} }, OUTPUT)],
  ["call without output", request(CALL, USER)],
  ["output without call", request(OUTPUT)],
  ["output before its call", request(OUTPUT, CALL)],
  ["two outputs", request(CALL, OUTPUT, OUTPUT)],
  ["call_id twice", request(CALL, OUTPUT, CALL, OUTPUT)],
  ["call_id too long", request({ ...CALL, call_id: "x".repeat(65) }, { ...OUTPUT, call_id: "x".repeat(65) })],
  ["arguments that are no object", request({ ...CALL, arguments: "[1]" }, OUTPUT)],
  ["id of another kind", request({ ...CALL, id: "call_1" }, OUTPUT)],
  ["id twice", request(MESSAGE, MESSAGE)],
  ["shell call without output", request({ type: "local_shell_call", id: "l", call_id: "a" })],
  ["half an item", request({ type: "web_search_call", id: "ws", status: "in_progress" })],
  ["reasoning alone", request(REASONING)],
  ["reasoning for a model that has none", { ...request(REASONING, OWN_CALL, OUTPUT), reasoning: undefined }],
  ["reasoning before a user", request(REASONING, USER)],
  ["reasoning before a call without id", request(REASONING, CALL, OUTPUT)],
  ["reasoning before another's call", request(REASONING, { ...OWN_CALL, id: "fc_1_of_rs_2" }, OUTPUT)],
  ["call without its reasoning", request(OWN_CALL, OUTPUT)],
  ["reasoning by id only", request({ ...REASONING, encrypted_content: null }, OWN_CALL, OUTPUT)],
  ["reasoning without summary", request({ ...REASONING, summary: undefined }, OWN_CALL, OUTPUT)],
  ["wrong image type", request({ role: "user", content: [imageOf("image/jpeg")] })],
  ["image without detail", request({ role: "user", content: [imageOf("image/png", {})] })],
  ["empty output", request(CALL, { ...OUTPUT, output: "" })],
  ["lone surrogate", request({ role: "user", content: "\ud83d" })],
])("%s is rejected", (_, body) => {
  expect(checkOpenAIRequest(body)).not.toEqual([]);
});
