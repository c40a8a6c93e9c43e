import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runDiligent } from "../support/run-diligent.ts";
import { type StreamLine, StreamSession } from "../support/stream-session.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => place.remove());

function start(turns: readonly object[], ...args: string[]): StreamSession {
  place.write("script.json", { version: 1, turns });
  return new StreamSession(place, ["-m", "scripted/script.json", ...args]);
}

const user = (content: unknown) => ({ type: "user", content });
const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });
const endsIn = (stopReason: string) => (line: StreamLine) =>
  line.type === "agent_end" && line.stopReason === stopReason;

describe("--input-format stream-json", () => {
  test("answers prompts in order, as one session with one result", async () => {
    const session = start([{ text: "first" }, { text: "second" }]);
    session.send(user("one"), user([{ type: "text", text: "two" }]));
    expect(await session.end()).toBe(0);
    expect(session.lines[0]).toMatchObject({ type: "session" });
    const ends = session.lines.filter(({ type }) => type === "message_end");
    expect(ends.map(({ message }) => Object(message).content)).toEqual([
      [{ type: "text", text: "first" }],
      [{ type: "text", text: "second" }],
    ]);
    expect(session.lines.at(-1)).toMatchObject({ result: "second", turns: 2, stopReason: "end_turn" });
  });

  test("takes the prompt of the arguments first, and stays open until the input ends", async () => {
    const session = start([{ text: "first" }, { text: "second" }], "-p", "one");
    await session.find(endsIn("end_turn"));
    session.send(user("two"));
    expect(await session.end()).toBe(0);
    expect(session.lines.at(-1)).toMatchObject({ result: "second" });
  });

  test("asks for approvals, and takes each answer once", async () => {
    const session = start([bash("touch made"), bash("touch refused"), { text: "done" }]);
    session.send(user("go"));
    const first = await session.ofType("approval_request");
    expect(first).toMatchObject({ toolCallId: "call_1", mode: "ask" });
    const { requestId } = first;
    session.send({ type: "approval", requestId, answer: "once" });
    const second = await session.find((line) => line.type === "approval_request" && line !== first);
    session.send({ type: "approval", requestId, answer: "once" });
    session.send({ type: "approval", requestId: second.requestId, answer: "reject", reason: "not now" });
    expect(await session.end()).toBe(0);
    const made = ["made", "refused"].map((name) => existsSync(join(place.project, name)));
    expect(made).toEqual([true, false]);
    expect(session.lines.find((line) => line.outcome === "rejected")).toMatchObject({
      output: "The user denied this: not now",
    });
    expect(session.lines.filter(({ type }) => type === "input_error")).toEqual([
      { type: "input_error", message: `requestId: nothing with the id "${requestId}" is waiting` },
    ]);
  });

  test("an answer of always covers equal calls", async () => {
    const session = start([bash("touch made"), bash("touch made"), { text: "done" }]);
    session.send(user("go"));
    const { requestId } = await session.ofType("approval_request");
    session.send({ type: "approval", requestId, answer: "always" });
    expect(await session.end()).toBe(0);
    expect(session.lines.filter(({ type }) => type === "approval_request")).toHaveLength(1);
  });

  test("the end of the input rejects what waits, with exit code 4", async () => {
    const session = start([bash("touch made"), { text: "I could not." }]);
    session.send(user("go"));
    await session.ofType("approval_request");
    expect(await session.end()).toBe(4);
    expect(existsSync(join(place.project, "made"))).toBe(false);
    expect(session.lines.at(-1)).toMatchObject({ stopReason: "approval", result: "I could not." });
  });

  test("the model's questions are answered by their labels", async () => {
    const question = { question: "Which?", options: [{ label: "A" }, { label: "B" }] };
    const session = start([
      { toolCalls: [{ name: "ask_user", input: { questions: [question] } }] },
      { text: "done" },
    ]);
    session.send(user("go"));
    const asked = await session.ofType("question");
    expect(asked).toMatchObject({ questions: [question] });
    session.send({ type: "answer", requestId: asked.requestId, answers: [["B"]] });
    expect(await session.end()).toBe(0);
    expect(session.lines.find(({ type }) => type === "tool_end")).toMatchObject({ output: "Which?\n→ B" });
  });

  test("interrupt stops the running prompt, and the next one is answered", async () => {
    const session = start([bash("sleep 60"), { text: "second" }], "--approval", "auto");
    session.send({ type: "interrupt" }, user("one"));
    await session.ofType("tool_start");
    session.send({ type: "interrupt" });
    await session.find(endsIn("aborted"));
    session.send(user("two"));
    expect(await session.end()).toBe(0);
    expect(session.lines.at(-1)).toMatchObject({ result: "second" });
  });

  test("interrupt answers an open approval, and a prompt interrupted last is exit code 130", async () => {
    const session = start([bash("touch made")]);
    session.send(user("one"));
    await session.ofType("approval_request");
    session.send({ type: "interrupt" });
    await session.find(endsIn("aborted"));
    expect(await session.end()).toBe(130);
    expect(existsSync(join(place.project, "made"))).toBe(false);
  });

  test("steer joins the running prompt, and is a prompt while none is running", async () => {
    const session = start(
      [bash("until [ -e go ]; do sleep 0.05; done"), { text: "joined" }, { text: "own" }],
      "--approval",
      "auto",
    );
    session.send(user("one"));
    await session.ofType("tool_start");
    session.send({ type: "steer", content: "and this" });
    place.write("go", "");
    await session.find(endsIn("end_turn"));
    expect(session.lines.filter(({ type }) => type === "steering")).toMatchObject([{ text: "and this" }]);
    session.send({ type: "steer", content: "alone" });
    expect(await session.end()).toBe(0);
    expect(session.lines.at(-1)).toMatchObject({ result: "own", turns: 3 });
  });

  test("limits count for all prompts together where they are dollars, and for each where they are turns", async () => {
    const session = start([{ text: "a" }, { text: "b" }], "--max-turns", "1");
    session.send(user("one"), user("two"));
    expect(await session.end()).toBe(0);
  });

  test("an image is sent as one, and what is none is an error", async () => {
    const png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const image = (data: string) => ({
      type: "image",
      source: { type: "base64", mediaType: "image/png", data },
    });
    const session = start([{ text: "seen" }]);
    session.send(user([image("bm90IGFuIGltYWdl")]), user([{ type: "text", text: "look" }, image(png)]));
    expect(await session.end()).toBe(0);
    expect(await session.ofType("input_error")).toEqual({
      type: "input_error",
      message: "content.0: the data is not a PNG, JPEG, GIF or WebP image",
    });
  });
});

describe("a line that is not understood", () => {
  const bad: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ["no JSON", "hello\n", /^not JSON: /],
    ["an array", "[]\n", /expected object/],
    ["an unknown type", '{"type":"usr","content":"x"}\n', /^type: /],
    ["content of a wrong type", '{"type":"user","content":7}\n', /^content: /],
    ["an unknown field", '{"type":"interrupt","now":true}\n', /now/],
    ["a prompt without text", '{"type":"user","content":"  "}\n', /the prompt is empty/],
    ["answers of a wrong type", '{"type":"answer","requestId":"q","answers":["A"]}\n', /^answers.0: /],
    ["a NUL", '{"type":"user","content":"a\0b"}\n', /^not JSON: /],
    ["invalid UTF-8", new Uint8Array([0x22, 0xff, 0x22, 0x0a]), /not valid UTF-8/],
    ["10 MB", `{"type":"user","content":"${"x".repeat(11 * 1024 * 1024)}"}\n`, /longer than 10 MB/],
  ];

  test("is answered with input_error, changes nothing, and the next line counts", async () => {
    const session = start([{ text: "fine" }]);
    for (const [, bytes] of bad) session.sendRaw(bytes);
    session.sendRaw("\n  \r\n");
    session.send(user("go"));
    expect(await session.end()).toBe(0);
    const errors = session.lines.filter(({ type }) => type === "input_error");
    expect(errors).toHaveLength(bad.length);
    for (const [index, [, , message]] of bad.entries()) expect(errors[index]?.message).toMatch(message);
    expect(session.lines.at(-1)).toMatchObject({ result: "fine", turns: 1 });
  });

  test("leaves nothing to send: exit code 2, with a result", async () => {
    const session = start([{ text: "fine" }]);
    session.sendRaw("hello");
    expect(await session.end()).toBe(2);
    expect(session.lines.at(-1)).toMatchObject({
      stopReason: "error",
      turns: 0,
      error: { message: "the input contains no prompt" },
    });
  });
});

test("SIGTERM while it waits for a line ends it with a result", async () => {
  const session = start([{ text: "first" }]);
  session.send(user("one"));
  await session.find(endsIn("end_turn"));
  session.kill("SIGTERM");
  expect(await session.exited()).toBe(143);
});

test.each([
  [
    ["--input-format", "stream-json", "--output-format", "text"],
    "--input-format stream-json needs --output-format stream-json, not text",
  ],
  [["--input-format", "stream"], "--input-format stream: not one of text, stream-json"],
])("%p is exit code 2", async (args, message) => {
  const { exitCode, stderr, stdout } = await runDiligent(place, ["-p", ...args]);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toStartWith(`diligent: ${message}`);
});
