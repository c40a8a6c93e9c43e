import { describe, expect, test } from "bun:test";
import { type MessageOptions, toCompatibleMessages } from "../../src/provider/chat-completions/request.ts";
import type { ContentBlock, Message, ThinkingBlock, ToolCallBlock } from "../../src/types.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";

const MODEL = "local/m";

function messagesOf(messages: Message[], options: Partial<MessageOptions> = {}): unknown[] {
  return toCompatibleMessages(messages, {
    provider: "local",
    model: MODEL,
    hasTools: true,
    takesThinking: true,
    takesImages: true,
    ...options,
  });
}

function sentCall(id: string, args = "{}", name = "read") {
  return { id, type: "function", function: { name, arguments: args } };
}

function toolMessage(id: string, content: string) {
  return { role: "tool", tool_call_id: id, content };
}

const IMAGE_PART = {
  type: "image_url",
  image_url: { url: `data:image/png;base64,${image().source.data}` },
};

describe("a conversation", () => {
  test("has its calls, then their results as text, then their images in a user message", () => {
    const messages = [
      user([text("see"), image()]),
      assistant([text("I look."), call("a", "read", { path: "x" }), text("Now."), call("b")]),
      result("b", " ", { images: [image()] }),
      result("a", "two by two", { images: [image(), image()], isError: true }),
      assistant([text("so")]),
      user("thanks"),
    ];
    expect(messagesOf(messages)).toEqual([
      { role: "user", content: [{ type: "text", text: "see" }, IMAGE_PART] },
      {
        role: "assistant",
        content: "I look.\nNow.",
        tool_calls: [sentCall("a", '{"path":"x"}'), sentCall("b")],
      },
      toolMessage("a", "two by two\n[The image follows in the next message.]"),
      toolMessage("b", "[The image follows in the next message.]"),
      {
        role: "user",
        content: [
          { type: "text", text: "[Image from the result of read, call a:]" },
          IMAGE_PART,
          IMAGE_PART,
          { type: "text", text: "[Image from the result of read, call b:]" },
          IMAGE_PART,
        ],
      },
      { role: "assistant", content: "so" },
      { role: "user", content: "thanks" },
    ]);
  });

  test("may end with the images of results", () => {
    const messages = [user("go"), assistant([call("a")]), result("a", "x", { images: [image()] })];
    const title = { type: "text", text: "[Image from the result of read, call a:]" };
    expect(messagesOf(messages).at(-1)).toEqual({ role: "user", content: [title, IMAGE_PART] });
  });

  test("has eight parallel calls with results in their order, and null instead of empty text", () => {
    const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const results = ids.toReversed().map((id) => result(id, `of ${id}`));
    const sent = messagesOf([user("go"), assistant(ids.map((id) => call(id))), ...results]);
    expect(sent.slice(1)).toEqual([
      { role: "assistant", content: null, tool_calls: ids.map((id) => sentCall(id)) },
      ...ids.map((id) => toolMessage(id, `of ${id}`)),
    ]);
  });

  test("leaves out unanswered calls and empty messages, and alternates user and assistant", () => {
    const messages = [
      assistant([text("welcome")]),
      user("one"),
      assistant([{ type: "thinking", thinking: "hm" }]),
      user([text("two"), image()]),
      assistant([text("so")]),
      assistant([text(" ")]),
      assistant([text("far")]),
    ];
    const goOn = { role: "user", content: "Continue." };
    expect(messagesOf(messages)).toEqual([
      goOn,
      { role: "assistant", content: "welcome" },
      { role: "user", content: [{ type: "text", text: "one" }, { type: "text", text: "two" }, IMAGE_PART] },
      { role: "assistant", content: "so" },
      goOn,
      { role: "assistant", content: "far" },
      goOn,
    ]);
    expect(messagesOf([])).toEqual([goOn]);
    expect(messagesOf([user("one"), user("two")])).toEqual([{ role: "user", content: "one\n\ntwo" }]);
  });

  test("has a text for an empty result and for a missing one", () => {
    const sent = messagesOf([user("go"), assistant([call("a"), call("b")]), result("a", "\n")]);
    expect(sent.slice(2)).toEqual([
      toolMessage("a", "(no output)"),
      toolMessage("b", expect.stringMatching(/^The tool call was interrupted/)),
    ]);
  });

  test("has calls and results as text if the request offers no tools", () => {
    const thinking = local({ type: "thinking", thinking: "hm" }, { field: "reasoning" });
    const messages = [user("go"), assistant([thinking, call("a")]), result("a", "content")];
    expect(messagesOf(messages, { hasTools: false })).toEqual([
      { role: "user", content: "go" },
      { role: "assistant", content: "[Called read with {}]" },
      { role: "user", content: "[Result of read]\ncontent" },
    ]);
  });

  test("has notes instead of images if the model accepts none", () => {
    const messages = [user([image()]), assistant([call("a")]), result("a", "", { images: [image()] })];
    const note = "[An image was here; it was left out because the model takes none.]";
    expect(messagesOf(messages, { takesImages: false })).toEqual([
      { role: "user", content: note },
      { role: "assistant", content: null, tool_calls: [sentCall("a")] },
      toolMessage("a", note),
    ]);
  });
});

describe("ids and names of calls", () => {
  const calls = [
    call("functions.read:0", "ls/what?"),
    call("fc|1", ""),
    call("x".repeat(50), "y".repeat(70)),
  ];

  function idsOf(model: string): unknown[] {
    const turn = assistant(calls, { model });
    const [, ...sent] = messagesOf([user("go"), turn, ...calls.map(({ id }) => result(id))]);
    const ids = sent.slice(1).map((message) => Reflect.get(Object(message), "tool_call_id"));
    const sentCalls = ids.map((id, index) =>
      sentCall(String(id), "{}", ["ls_what_", "unknown", "y".repeat(64)][index] ?? ""),
    );
    expect(sent[0]).toEqual({ role: "assistant", content: null, tool_calls: sentCalls });
    return ids;
  }

  test("are sent back unchanged to the model that produced them", () => {
    expect(idsOf(MODEL)).toEqual(["functions.read:0", "fc|1", "x".repeat(50)]);
  });

  test("are converted to valid ones for all others", () => {
    expect(idsOf("claude-sonnet-5-5")).toEqual(["functions_read_0", "fc_1", "x".repeat(40)]);
  });

  test("stay unique if two become the same", () => {
    const blocks = [call("a.1"), call("a:1"), call("a_1")];
    const sent = messagesOf([user("go"), assistant(blocks), ...blocks.map(({ id }) => result(id, id))]);
    expect(sent.slice(2)).toEqual([
      toolMessage("a_1", "a.1"),
      toolMessage("a_1_2", "a:1"),
      toolMessage("a_1_3", "a_1"),
    ]);
  });
});

describe("thinking", () => {
  const own = (field: string) => local({ type: "thinking", thinking: "hm" }, { field });

  function turnOf(blocks: ContentBlock[], options: Partial<MessageOptions> = {}, model = MODEL): unknown {
    return messagesOf([user("go"), assistant(blocks, { model }), result("a"), user("on")], options)[1];
  }

  test.each(["reasoning_content", "reasoning", "thinking"])(
    "is sent back as %s, with the calls it led to",
    (field) => {
      expect(turnOf([own(field), call("a")])).toEqual({
        role: "assistant",
        content: null,
        tool_calls: [sentCall("a")],
        [field]: "hm",
      });
    },
  );

  test("in several pieces is one text", () => {
    const blocks = [own("reasoning"), text("so"), own("reasoning"), call("a")];
    expect(turnOf(blocks)).toMatchObject({ content: "so", reasoning: "hm\n\nhm" });
  });

  test.each<[string, ContentBlock[], Partial<MessageOptions>]>([
    ["a turn without calls", [own("reasoning"), text("so")], {}],
    ["another server", [own("reasoning"), call("a")], { provider: "other" }],
    ["a server that refused it", [own("reasoning"), call("a")], { takesThinking: false }],
    ["a field we do not know", [own("content"), call("a")], {}],
    ["another provider's", [{ type: "thinking", thinking: "hm", signature: "s" }, call("a")], {}],
  ])("is left out for %s", (_, blocks, options) => {
    expect(JSON.stringify(turnOf(blocks, options))).not.toMatch(/hm|"s"/);
  });

  test("with a signature is sent back to its model only, and so are signatures of calls", () => {
    const details = [{ type: "reasoning.encrypted", data: "x", index: 0 }];
    const thinking = local({ type: "thinking", thinking: "hm" }, { field: "reasoning", details });
    const signed: ToolCallBlock = {
      ...call("a"),
      replay: { provider: "local", data: { extraContent: { google: { thought_signature: "y" } } } },
    };
    expect(turnOf([thinking, signed])).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [{ ...sentCall("a"), extra_content: { google: { thought_signature: "y" } } }],
      reasoning: "hm",
      reasoning_details: details,
    });
    expect(turnOf([thinking, signed], {}, "local/other")).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [sentCall("a")],
      reasoning: "hm",
    });
  });
});

test("opaque blocks of other providers are left out", () => {
  const blocks: ContentBlock[] = [
    { type: "opaque", provider: "anthropic", raw: { type: "server_tool_use" } },
    { type: "text", text: "so", replay: { provider: "openai", data: { message: { id: "msg_1" } } } },
    { ...call("a"), replay: { provider: "openai", data: { id: "fc_1", extraContent: "x" } } },
  ];
  expect(messagesOf([user("go"), assistant(blocks), result("a")])[1]).toEqual({
    role: "assistant",
    content: "so",
    tool_calls: [sentCall("a")],
  });
});

function local(block: ThinkingBlock, data: unknown): ThinkingBlock {
  return { ...block, replay: { provider: "local", data } };
}
