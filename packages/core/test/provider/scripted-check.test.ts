import { describe, expect, test } from "bun:test";
import { findRequestFault } from "../../src/provider/scripted/check-request.ts";
import type { ContentBlock, Message } from "../../src/types.ts";
import { assistant, LS_TOOL, request, toolCall, toolResult, user } from "../support/scripted.ts";

const PNG: ContentBlock = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "iVBORw0KGgo=" },
};
const TIFF: ContentBlock = {
  type: "image",
  source: { type: "base64", mediaType: "image/tiff", data: "SUkq" },
};
const text = (words: string): ContentBlock => ({ type: "text", text: words });

function faultOf(messages: readonly Message[]): string {
  const fault = findRequestFault(request(messages, { tools: [LS_TOOL] }));
  return fault ? `${fault.path}: ${fault.message}` : "none";
}

describe("a request that a real API accepts", () => {
  test.each<[string, Message[]]>([
    ["a question", [user("hello")]],
    ["a question with an image", [user([text("what is this?"), PNG])]],
    [
      "two calls of one message, their results in another order",
      [
        user("hello"),
        assistant([text("I look."), toolCall("a"), toolCall("b")]),
        toolResult("b"),
        toolResult("a"),
        user("and now?"),
      ],
    ],
    ["a reply with an empty text, which is never sent back", [user("a"), assistant([text("\n")]), user("b")]],
    ["a reply that was paused", [user("hello"), assistant([text("Half.")], "tool_use")]],
  ])("has no fault: %s", (_, messages) => {
    expect(faultOf(messages)).toBe("none");
  });
});

describe("a request that a real API rejects", () => {
  test.each<[string, Message[]]>([
    ["messages: there are no messages", []],
    ["messages[0]: the first message is not the user's", [assistant([text("hello")]), user("hello")]],
    ["messages[0].content: empty text", [user(" \n")]],
    ["messages[0].content: an empty user message", [user([])]],
    ["messages[0].content[1]: an empty text block", [user([text("a"), text("")])]],
    [
      "messages[1]: the last message is the assistant's: nothing to answer",
      [user("a"), assistant([text("b")])],
    ],
    [
      "messages[1].content[1]: tool call b (ls) has no result right after it",
      [user("a"), assistant([toolCall("a"), toolCall("b")]), toolResult("a")],
    ],
    [
      "messages[1].content[0]: tool call a (ls) has no result right after it",
      [user("a"), assistant([toolCall("a")]), user("b"), toolResult("a")],
    ],
    [
      "messages[1]: a result for a (ls), which the message before does not call, or a second one",
      [user("a"), toolResult("a")],
    ],
    [
      "messages[3]: a result for a (ls), which the message before does not call, or a second one",
      [user("a"), assistant([toolCall("a")]), toolResult("a"), toolResult("a")],
    ],
    [
      'messages[3].content[0]: a second tool call has the id "a"',
      [user("a"), assistant([toolCall("a")]), toolResult("a"), assistant([toolCall("a")]), toolResult("a")],
    ],
    ["messages[0].content[0]: a tool call in a user message", [user([toolCall("a")])]],
    ["messages[0].content[0]: thinking in a user message", [user([{ type: "thinking", thinking: "hm" }])]],
    ["messages[1].content[0]: an image in an assistant message", [user("a"), assistant([PNG]), user("b")]],
    ['messages[0].content[0]: "image/tiff" is not an image type that providers accept', [user([TIFF])]],
    [
      "messages[1].content[0]: a tool call without an id or a name",
      [user("a"), assistant([toolCall("")]), toolResult("")],
    ],
  ])("is reported with its position: %s", (fault, messages) => {
    expect(faultOf(messages)).toBe(fault);
  });

  test("contains tool calls but offers no tools", () => {
    const messages = [user("a"), assistant([toolCall("a")]), toolResult("a")];
    expect(findRequestFault(request(messages))).toEqual({
      path: "messages[1]",
      message: "tool calls and results in a request that offers no tools",
    });
  });

  test.each([
    ["tools[1]", 'a second tool is called "ls"', [LS_TOOL, LS_TOOL]],
    ["tools[0]", '"l s" is not a valid tool name', [{ ...LS_TOOL, name: "l s" }]],
    ["tools[0]", "the schema of ls does not describe an object", [{ ...LS_TOOL, inputSchema: {} }]],
  ])("has an invalid tool: %s: %s", (path, message, tools) => {
    expect(findRequestFault(request([user("a")], { tools }))).toEqual({ path, message });
  });
});
