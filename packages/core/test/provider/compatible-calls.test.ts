import { describe, expect, test } from "bun:test";
import { type ToolCallBlock, toolCallsOf } from "../../src/types.ts";
import { callChunk, callEntry, chunk, finishChunk, textChunk } from "../support/compatible-answers.ts";
import { applyChunks } from "../support/compatible-reply.ts";

/** Name and arguments of each call; where the arguments are no object, what came instead. */
function callsOf(chunks: readonly unknown[], reason: string | null = "tool_calls"): unknown[] {
  const { message } = applyChunks([...chunks, finishChunk(reason)]);
  return toolCallsOf(message).map(({ name, input, invalidInput }) => [name, invalidInput ?? input]);
}

const TWO = [
  ["read", { path: "a" }],
  ["read", { path: "b" }],
];

describe("two calls stay separate", () => {
  const [a, b] = ['{"path":"a"}', '{"path":"b"}'];

  test.each<[string, unknown[]]>([
    [
      "by their index, even when their pieces interleave",
      [
        callChunk(callEntry("", { index: 0, id: "x", name: "read" })),
        callChunk(callEntry("", { index: 1, id: "y", name: "read" })),
        callChunk(callEntry('{"path"', { index: 1 }), callEntry('{"path":', { index: 0 })),
        callChunk(callEntry(':"b"}', { index: 1 })),
        callChunk(callEntry('"a"}', { index: 0 })),
      ],
    ],
    [
      "whole in one chunk, without index",
      [callChunk(callEntry(a, { id: "x", name: "read" }), callEntry(b, { id: "y", name: "read" }))],
    ],
    [
      "whole in one chunk, without index and id",
      [callChunk(callEntry(a, { name: "read" }), callEntry(b, { name: "read" }))],
    ],
    [
      "in one chunk each, without index and id",
      [callChunk(callEntry(a, { name: "read" })), callChunk(callEntry(b, { name: "read" }))],
    ],
    [
      "in pieces, without index and id",
      [
        callChunk(callEntry('{"path":', { name: "read" })),
        callChunk(callEntry('"a"}')),
        callChunk(callEntry("", { name: "read" })),
        callChunk(callEntry(b)),
      ],
    ],
    [
      "by their id, where every index is 0",
      [
        callChunk(callEntry(a, { index: 0, id: "x", name: "read" })),
        callChunk(callEntry(b, { index: 0, id: "y", name: "read" })),
      ],
    ],
    [
      "where every index is 0 and there is no id",
      [
        callChunk(callEntry(a, { index: 0, name: "read" })),
        callChunk(callEntry(b, { index: 0, name: "read" })),
      ],
    ],
    [
      "with arguments as objects",
      [
        callChunk(callEntry({ path: "a" }, { index: 0, name: "read" })),
        callChunk(callEntry({ path: "b" }, { index: 1, name: "read" })),
      ],
    ],
    [
      "where both have the same id",
      [
        callChunk(callEntry(a, { index: 0, id: "x", name: "read" })),
        callChunk(callEntry(b, { index: 1, id: "x", name: "read" })),
      ],
    ],
    [
      "where name and id are repeated with every piece",
      [
        ...['{"path"', ':"a"', "}"].map((json) =>
          callChunk(callEntry(json, { index: 0, id: "x", name: "read" })),
        ),
        ...['{"path"', ':"b"', "}"].map((json) =>
          callChunk(callEntry(json, { index: 1, id: "y", name: "read" })),
        ),
      ],
    ],
    [
      "where the name alone is repeated",
      [
        ...['{"path"', ':"a"', "}", ""].map((json) => callChunk(callEntry(json, { index: 0, name: "read" }))),
        ...['{"path"', ':"b"', "}"].map((json) => callChunk(callEntry(json, { index: 1, name: "read" }))),
      ],
    ],
    [
      "where the id changes from piece to piece",
      [
        callChunk(callEntry('{"path":', { index: 0, id: "x1", name: "read" })),
        callChunk(callEntry('"a"}', { index: 0, id: "x2" })),
        callChunk(callEntry('{"path":', { index: 1, id: "y1", name: "read" })),
        callChunk(callEntry('"b"}', { index: 1, id: "y2", name: "read" })),
      ],
    ],
    [
      "where the whole of the arguments is repeated at the end",
      [
        callChunk(callEntry(a, { index: 0, id: "x", name: "read" })),
        callChunk(callEntry(b, { index: 1, id: "y", name: "read" })),
        callChunk(callEntry(a, { index: 0, id: "x", name: "read" }), callEntry(b, { index: 1, id: "y" })),
      ],
    ],
    [
      "where text comes between and after them",
      [
        callChunk(callEntry('{"path":', { index: 0, id: "x", name: "read" })),
        textChunk("\n"),
        callChunk(callEntry('"a"}', { index: 0 })),
        callChunk(callEntry(b, { index: 1, id: "y", name: "read" })),
        textChunk("so"),
      ],
    ],
  ])("%s", (_, chunks) => {
    expect(callsOf(chunks)).toEqual(TWO);
    expect(callsOf(chunks, "stop")).toEqual(TWO);
  });
});

test("two calls without arguments, index and id are two if they arrive in one chunk", () => {
  const ls = callEntry("", { name: "ls" });
  expect(callsOf([callChunk(ls, ls)])).toEqual([
    ["ls", {}],
    ["ls", {}],
  ]);
});

describe("one call stays one", () => {
  test.each<[string, unknown[], unknown]>([
    ["without arguments", [callChunk(callEntry(undefined, { index: 0, name: "ls" }))], ["ls", {}]],
    ["with empty arguments", [callChunk(callEntry("", { index: 0, name: "ls" }))], ["ls", {}]],
    ["with null for arguments", [callChunk(callEntry(null, { index: 0, name: "ls" }))], ["ls", {}]],
    ["as an object instead of a list", [chunk({ tool_calls: callEntry("{}", { name: "ls" }) })], ["ls", {}]],
    [
      "without a function around it",
      [callChunk({ name: "ls", arguments: { all: true } })],
      ["ls", { all: true }],
    ],
    [
      "in the field from before there were several",
      [
        chunk({ function_call: { name: "ls", arguments: '{"a' } }),
        chunk({ function_call: { arguments: '":1}' } }),
      ],
      ["ls", { a: 1 }],
    ],
    [
      "whose name comes in pieces",
      [
        callChunk(callEntry("", { index: 0, id: "x", name: "re" })),
        callChunk(callEntry("{}", { index: 0, name: "ad" })),
      ],
      ["read", {}],
    ],
    [
      "whose name comes last",
      [
        callChunk(callEntry("{", { index: 0, id: "x" })),
        callChunk(callEntry("}", { index: 0, name: "read" })),
      ],
      ["read", {}],
    ],
    ["that has no name", [callChunk(callEntry("{}", { index: 0, id: "x" }))], ["", {}]],
    ["whose arguments are no object", [callChunk(callEntry("[1]", { index: 0, name: "ls" }))], ["ls", "[1]"]],
    [
      "whose arguments are no JSON",
      [callChunk(callEntry('{"a":', { index: 0, name: "ls" }))],
      ["ls", '{"a":'],
    ],
  ])("%s", (_, chunks, expected) => {
    expect(callsOf(chunks)).toEqual([expected]);
  });

  test("a call is announced before its arguments, and before its end if its name arrives late", () => {
    const { events } = applyChunks([
      callChunk(callEntry("{", { index: 0, id: "x" })),
      callChunk(callEntry("}", { index: 0, name: "read" })),
      finishChunk("tool_calls"),
    ]);
    expect(events).toEqual([
      { type: "start" },
      { type: "tool_call_start", id: "x", name: "read" },
      { type: "tool_call_delta", id: "x", delta: "{}" },
      { type: "tool_call_end", id: "x", name: "read", input: {} },
    ]);
  });
});

test("a call that was cut off has invalid arguments, even if none had arrived", () => {
  const cut = (json: string) =>
    callsOf(
      [callChunk(callEntry("{}", { index: 0, name: "ls" }), callEntry(json, { index: 1, name: "ls" }))],
      "length",
    );
  expect(cut("")).toEqual([
    ["ls", {}],
    ["ls", ""],
  ]);
  expect(cut('{"a": "b')).toEqual([
    ["ls", {}],
    ["ls", '{"a": "b'],
  ]);
});

describe("the id of a call", () => {
  const idsOf = (ids: Array<string | undefined>, callIds: string[] = []) => {
    const entries = ids.map((id, index) =>
      callEntry("{}", { index, name: "ls", ...(id !== undefined && { id }) }),
    );
    const { message, events } = applyChunks([callChunk(...entries)], { callIds });
    const told = events.flatMap((event) => (event.type === "tool_call_end" ? [event.id] : []));
    expect(told).toEqual(toolCallsOf(message).map(({ id }: ToolCallBlock) => id));
    return told;
  };

  test("is kept if the server sent one", () => {
    expect(idsOf(["call_x", "functions.ls:1"])).toEqual(["call_x", "functions.ls:1"]);
  });

  test("is generated if it is missing, different from all others in the conversation", () => {
    expect(idsOf([undefined, ""])).toEqual(["call00001", "call00002"]);
    expect(idsOf([undefined, undefined], ["a", "call00003"])).toEqual(["call00004", "call00005"]);
    expect(idsOf(["call00002", undefined])).toEqual(["call00002", "call00003"]);
  });

  test("is changed if the conversation has it already", () => {
    expect(idsOf(["0", "0", "1"], ["0", "0_2"])).toEqual(["0_3", "0_4", "1"]);
  });
});

test("data that a gateway sends with a call and expects back is kept under the server's name", () => {
  const extra = { google: { thought_signature: "x" } };
  const entry = { ...callEntry("{}", { index: 0, id: "a", name: "ls" }), extra_content: extra };
  const { message } = applyChunks([callChunk(entry), finishChunk("stop")]);
  expect(toolCallsOf(message)[0]?.replay).toEqual({ provider: "local", data: { extraContent: extra } });
});
