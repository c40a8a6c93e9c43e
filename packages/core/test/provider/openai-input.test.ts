import { describe, expect, test } from "bun:test";
import { toOpenAIInput } from "../../src/provider/openai/request.ts";
import type { ContentBlock, Message } from "../../src/types.ts";
import { assistant, call, image, result, text, user } from "../support/messages.ts";

function inputOf(messages: Message[], hasTools = true): unknown[] {
  return toOpenAIInput(messages, { hasTools, takesReasoning: true, refused: new Set() });
}

function replay(data: unknown) {
  return { replay: { provider: "openai", data } };
}

function reasoning(id: string, fields: Record<string, unknown> = {}) {
  return {
    type: "reasoning",
    id,
    summary: [{ type: "summary_text", text: "hm" }],
    encrypted_content: "gAAA",
    ...fields,
  };
}

function thinking(item: unknown): ContentBlock {
  return { type: "thinking", thinking: "hm", ...replay(item) };
}

function ownCall(id: string): ContentBlock {
  return { ...call(id), ...replay({ id: `fc_${id}`, status: "completed" }) };
}

function message(id: string, value: string, fields: Record<string, unknown> = {}): ContentBlock {
  const data = {
    message: { id, status: "completed", ...fields },
    part: { type: "output_text", annotations: [] },
  };
  return { type: "text", text: value, ...replay(data) };
}

function sentCall(id: string, fields: Record<string, unknown> = {}) {
  return { type: "function_call", call_id: id, name: "read", arguments: "{}", ...fields };
}

function plain(content: string, fields: Record<string, unknown> = {}) {
  return { type: "message", role: "assistant", content, ...fields };
}

/** What a reply is sent as, without the user's words around it. */
function turnOf(content: ContentBlock[]): unknown[] {
  return inputOf([user("go"), assistant(content), user("on")]).slice(1, -1);
}

describe("a conversation", () => {
  test("has one item for each message, call and result, with images in place", () => {
    const { source } = image();
    const sentImage = {
      type: "input_image",
      detail: "auto",
      image_url: `data:image/png;base64,${source.data}`,
    };
    const messages = [
      user([text("see"), image()]),
      assistant([text("I look."), call("a", "read", { path: "x" }), call("b")]),
      result("b", " ", { images: [image()] }),
      result("a", "two by two", { images: [image()], isError: true }),
      user("thanks"),
    ];
    expect(inputOf(messages)).toEqual([
      { role: "user", content: [{ type: "input_text", text: "see" }, sentImage] },
      plain("I look."),
      sentCall("a", { arguments: '{"path":"x"}' }),
      sentCall("b"),
      {
        type: "function_call_output",
        call_id: "a",
        output: [{ type: "input_text", text: "two by two" }, sentImage],
      },
      { type: "function_call_output", call_id: "b", output: [sentImage] },
      { role: "user", content: "thanks" },
    ]);
  });

  test("that is empty or ends in an answer gets a placeholder message", () => {
    const goOn = { role: "user", content: "Continue." };
    expect(inputOf([])).toEqual([goOn]);
    expect(inputOf([assistant([text("so")])])).toEqual([plain("so"), goOn]);
    expect(inputOf([assistant([call("a")]), result("a")])).toHaveLength(2);
  });

  test("has calls and results as text if the request offers no tools", () => {
    const messages = [
      user("go"),
      assistant([thinking(reasoning("rs_1")), ownCall("a")]),
      result("a", "content"),
    ];
    expect(inputOf(messages, false)).toEqual([
      { role: "user", content: "go" },
      plain("[Called read with {}]"),
      { role: "user", content: [{ type: "input_text", text: "[Result of read]\ncontent" }] },
    ]);
  });

  test("ids and names of calls match the API's pattern and ids stay unique", () => {
    const long = "x".repeat(70);
    const calls = [call("fc|1", "ls/what?"), call("fc.1", ""), call(long, long), call(`${long}y`)];
    const ids = ["fc_1", "fc_1_2", "x".repeat(64), `${"x".repeat(62)}_2`];
    const results = calls.map(({ id }, index) => result(id, String(index)));
    const [, ...sent] = inputOf([user("go"), assistant(calls), ...results]);
    expect(sent).toEqual([
      ...["ls_what_", "unknown", "x".repeat(64), "read"].map((name, index) =>
        sentCall(ids[index] ?? "", { name }),
      ),
      ...ids.map((id, index) => ({ type: "function_call_output", call_id: id, output: String(index) })),
    ]);
  });
});

describe("a reply is sent back", () => {
  test("with its reasoning verbatim, each before what it led to", () => {
    const blocks = [
      thinking(reasoning("rs_1")),
      message("msg_1", "I look.", { phase: "commentary" }),
      ownCall("a"),
      thinking(reasoning("rs_2", { summary: [] })),
      thinking(reasoning("rs_3")),
      ownCall("b"),
    ];
    expect(turnOf(blocks).slice(0, 6)).toEqual([
      reasoning("rs_1"),
      {
        type: "message",
        role: "assistant",
        id: "msg_1",
        status: "completed",
        phase: "commentary",
        content: [{ type: "output_text", annotations: [], text: "I look." }],
      },
      sentCall("a", { id: "fc_a", status: "completed" }),
      reasoning("rs_2", { summary: [] }),
      reasoning("rs_3"),
      sentCall("b", { id: "fc_b", status: "completed" }),
    ]);
  });

  test("with the parts of one message as one message", () => {
    const parts: ContentBlock[] = [
      message("msg_1", "first"),
      {
        type: "opaque",
        provider: "openai",
        raw: { message: { id: "msg_1", status: "completed" }, part: { type: "output_audio", data: "x" } },
      },
      { type: "text", text: "no", ...replay({ message: { id: "msg_1" }, part: { type: "refusal" } }) },
      message("msg_2", "second"),
    ];
    expect(turnOf(parts)).toMatchObject([
      {
        id: "msg_1",
        content: [
          { type: "output_text", text: "first" },
          { type: "output_audio", data: "x" },
          { type: "refusal", refusal: "no" },
        ],
      },
      { id: "msg_2", content: [{ type: "output_text", text: "second" }] },
    ]);
  });

  test.each<[string, ContentBlock[]]>([
    ["alone", []],
    ["before half a text", [text("half")]],
    ["before a call that was cut", [{ ...call("a"), invalidInput: "{" }]],
    [
      "before what only another provider knows",
      [{ type: "opaque", provider: "anthropic", raw: { type: "x" } }],
    ],
    [
      "before a call of a tool that is not ours",
      [
        { type: "opaque", provider: "openai", raw: { type: "local_shell_call", id: "l", call_id: "x" } },
        ownCall("a"),
      ],
    ],
  ])("without reasoning that stands %s", (_, rest) => {
    const sent = JSON.stringify(turnOf([thinking(reasoning("rs_1")), ...rest]));
    expect(sent).not.toMatch(/rs_1|fc_a|local_shell/);
  });

  test.each<[string, unknown]>([
    ["has no encrypted content", reasoning("rs_1", { encrypted_content: null })],
    ["has an id of another kind", reasoning("reasoning-1")],
    ["is no item", "rs_1"],
  ])("without ids after reasoning that %s", (_, item) => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const blocks: ContentBlock[] = [
      thinking(item),
      message("msg_1", "I look.", { phase: "commentary" }),
      { type: "opaque", provider: "openai", raw: search },
      ownCall("a"),
    ];
    expect(turnOf(blocks).slice(0, -1)).toEqual([plain("I look.", { phase: "commentary" }), sentCall("a")]);
  });

  test("without reasoning and ids to a model that does not reason", () => {
    const messages = [user("go"), assistant([thinking(reasoning("rs_1")), ownCall("a")]), result("a")];
    const options = { hasTools: true, takesReasoning: false, refused: new Set<string>() };
    const sent: unknown[] = toOpenAIInput(messages, options);
    expect(sent[1]).toEqual(sentCall("a"));
  });

  test("with open reasoning, where a server does not encrypt it", () => {
    const item = reasoning("rs_1", {
      encrypted_content: null,
      content: [{ type: "reasoning_text", text: "hm" }],
    });
    expect(turnOf([thinking(item), message("msg_1", "so")])[0]).toEqual(item);
  });

  test("without what the API rejected, by its encrypted content or its id", () => {
    const blocks = [
      thinking(reasoning("rs_1")),
      ownCall("a"),
      message("msg_2", "so", { phase: "final_answer" }),
    ];
    const messages = [user("go"), assistant(blocks), result("a")];
    const refused = new Set(["gAAA", "fc_a", "msg_2"]);
    expect(toOpenAIInput(messages, { hasTools: true, takesReasoning: true, refused }).slice(1, 3)).toEqual([
      { ...sentCall("a"), type: "function_call" },
      { type: "message", role: "assistant", content: "so", phase: "final_answer" },
    ]);
  });

  test("with unknown kinds of items, except partial, waiting and repeated ones", () => {
    const raw = [
      { type: "web_search_call", id: "ws_1", status: "completed", later: [{ x: null }] },
      { type: "image_generation_call", id: "ig_1", status: "in_progress" },
      { type: "local_shell_call", id: "lsh_1", call_id: "x", status: "completed" },
      { type: "mcp_approval_request", id: "mcpr_1" },
      { type: "shell_call", id: "sh_1", call_id: "y", status: "completed" },
      { type: "shell_call_output", id: "sho_1", call_id: "y", output: [] },
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { type: "function_call_output", id: "fco_1", call_id: "z", output: "" },
    ];
    const blocks = raw.map((item): ContentBlock => ({ type: "opaque", provider: "openai", raw: item }));
    expect(turnOf(blocks)).toEqual([raw[0], raw[4], raw[5]]);
  });
});
