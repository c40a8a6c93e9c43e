import { describe, expect, test } from "bun:test";
import { toOpenAIMessage } from "../../src/provider/openai/items.ts";
import { applyOpenAIEvent, createOpenAIAnswer } from "../../src/provider/openai/response.ts";
import { call as callBlock } from "../support/messages.ts";
import {
  argumentPieces,
  call,
  callItem,
  completed,
  created,
  incomplete,
  item,
  messageItem,
  openItem,
  reasoningItem,
  refusalPieces,
  summaryPieces,
  textPart,
  textPieces,
} from "../support/openai-answers.ts";

function play(events: readonly unknown[]) {
  const answer = createOpenAIAnswer();
  const ours = events.flatMap((event) => applyOpenAIEvent(answer, event));
  return { ours, answer, message: toOpenAIMessage(answer, { model: "gpt-x", timestamp: 1 }) };
}

function contentOf(...events: Array<readonly unknown[]>) {
  return play([created(), ...events.flat()]).message.content;
}

function replayOf(data: unknown) {
  return { replay: { provider: "openai", data } };
}

describe("events", () => {
  test("a search for deferred tools is a call of the tool that searches, and is told apart when it is sent back", () => {
    const search = {
      ...{
        type: "tool_search_call",
        id: "ts_1",
        call_id: "call_s",
        execution: "client",
        status: "completed",
      },
      arguments: { query: "issues" },
    };
    const { ours, message } = play([
      created(),
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { ...search, arguments: {}, status: "in_progress" },
      },
      { type: "response.output_item.done", output_index: 0, item: search },
      completed(),
    ]);
    expect(ours.filter(({ type }) => /start$|end$/.test(type))).toEqual([
      { type: "start" },
      { type: "tool_call_start", id: "call_s", name: "tool_search" },
      { type: "tool_call_end", id: "call_s", name: "tool_search", input: { query: "issues" } },
    ]);
    expect(message).toMatchObject({
      stopReason: "tool_use",
      content: [
        { name: "tool_search", input: { query: "issues" }, replay: { data: { execution: "client" } } },
      ],
    });
  });

  test("a text answer streams its pieces, its usage and its message", () => {
    const { ours, message } = play([
      created(),
      { type: "response.in_progress", response: {} },
      ...item(0, messageItem("msg_1", [textPart("Hello")]), ...textPieces(0, "Hel", "lo")),
      completed({
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 70, cache_write_tokens: 20 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 4 },
      }),
    ]);
    const usage = { inputTokens: 10, outputTokens: 9, cacheReadTokens: 70, cacheWriteTokens: 20 };
    expect(ours).toEqual([
      { type: "start" },
      { type: "text_delta", delta: "Hel" },
      { type: "text_delta", delta: "lo" },
      { type: "text_end", text: "Hello" },
      { type: "usage", usage },
    ]);
    expect(message).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "Hello" }],
      model: "gpt-x",
      usage,
      stopReason: "end_turn",
      rawStopReason: "completed",
      timestamp: 1,
    });
  });

  test("three calls whose deltas alternate each get their own arguments", () => {
    const inputs = [{ n: 1 }, { n: 2 }, { n: 3 }];
    const rows = inputs.map((input, index) => {
      const json = JSON.stringify(input);
      return call(index, `c${index}`, json.slice(0, 3), json.slice(3));
    });
    const woven = [0, 1, 2, 3, 4].flatMap((step) => rows.toReversed().map((row) => row[step]));
    const { ours, message } = play([created(), ...woven, completed()]);
    expect(message.content).toEqual(inputs.map((input, index) => callBlock(`c${index}`, "read", input)));
    expect(message.stopReason).toBe("tool_use");
    const joined = (id: string) =>
      ours.map((event) => (event.type === "tool_call_delta" && event.id === id ? event.delta : "")).join("");
    expect([joined("c0"), joined("c1"), joined("c2")]).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
    expect(ours.filter(({ type }) => type === "tool_call_end")).toHaveLength(3);
  });

  test("reasoning shows its summary, and its item is kept completely for what it led to", () => {
    const reasoning = reasoningItem("rs_1", ["First.", "Then."]);
    const { ours, message } = play([
      created(),
      ...item(0, reasoning, ...summaryPieces(0, "Fir", "st."), ...summaryPieces(1, "Then.")),
      ...item(1, reasoningItem("rs_2")),
      ...call(2, "a", '{"path":"x"}'),
      completed(),
    ]);
    expect(ours.slice(1, -1)).toEqual([
      { type: "thinking_delta", delta: "Fir" },
      { type: "thinking_delta", delta: "st." },
      { type: "thinking_delta", delta: "\n\nThen." },
      { type: "thinking_end", thinking: "First.\n\nThen." },
      { type: "tool_call_start", id: "a", name: "read" },
      { type: "tool_call_delta", id: "a", delta: '{"path":"x"}' },
      { type: "tool_call_end", id: "a", name: "read", input: { path: "x" } },
    ]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "First.\n\nThen.", ...replayOf(reasoning) },
      { type: "thinking", thinking: "", ...replayOf(reasoningItem("rs_2")) },
      { ...callBlock("a", "read", { path: "x" }), ...replayOf({ id: "fc_a", status: "completed" }) },
    ]);
  });

  test("open reasoning is shown like a summary", () => {
    const whole = { ...reasoningItem("rs_1"), content: [{ type: "reasoning_text", text: "hm, so" }] };
    const deltas = ["hm, ", "so"].map((delta) => ({
      type: "response.reasoning_text.delta",
      content_index: 0,
      delta,
    }));
    const { ours, message } = play([created(), ...item(0, whole, ...deltas), completed()]);
    expect(ours.slice(1, -1)).toEqual([
      { type: "thinking_delta", delta: "hm, " },
      { type: "thinking_delta", delta: "so" },
      { type: "thinking_end", thinking: "hm, so" },
    ]);
    expect(message.content).toEqual([{ type: "thinking", thinking: "hm, so", ...replayOf(whole) }]);
  });

  test("a phase, annotations and unknown parts stay with their message", () => {
    const cited = textPart("as written", [{ type: "url_citation", url: "https://x.example" }]);
    const audio = { type: "output_audio", data: "x" };
    const message = { id: "msg_1", status: "completed", phase: "commentary" };
    const whole = messageItem("msg_1", [textPart("I look."), audio, cited], { phase: "commentary" });
    const { text: _, ...citedRest } = cited;
    const plainPart = { type: "output_text", annotations: [], logprobs: [] };
    expect(contentOf(item(0, whole, ...textPieces(0, "I look.")), [completed()])).toEqual([
      { type: "text", text: "I look.", ...replayOf({ message, part: plainPart }) },
      { type: "opaque", provider: "openai", raw: { message, part: audio } },
      { type: "text", text: "as written", ...replayOf({ message, part: citedRest }) },
    ]);
  });

  test("unknown kinds of items are kept completely, as they were at their end", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { query: "x" } };
    const later = { type: "later_invention", id: "li_1", deep: [{ a: null }] };
    expect(contentOf(item(0, search), item(1, later), [completed()])).toEqual([
      { type: "opaque", provider: "openai", raw: search },
      { type: "opaque", provider: "openai", raw: later },
    ]);
  });

  test("unknown events and pieces of finished items change nothing", () => {
    const late = { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "late" };
    const noise = [null, 7, { type: "keepalive" }, { type: "response.later_invention", output_index: 0 }];
    const whole = messageItem("msg_1", [textPart("hi")]);
    const done = { type: "response.output_item.done", output_index: 0, item: whole };
    expect(
      contentOf(noise, item(0, whole, ...textPieces(0, "hi")), [late, done], noise, [completed()]),
    ).toEqual([{ type: "text", text: "hi" }]);
  });
});

describe("servers that send less", () => {
  const whole = messageItem("msg_1", [textPart("hi there")]);

  test("a text that is not streamed or not announced is still emitted", () => {
    const done = { type: "response.output_item.done", output_index: 0, item: whole };
    const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "hi " };
    for (const events of [[done], [delta, done], [delta, { ...delta, delta: "there" }]]) {
      const { ours, message } = play([...events, completed()]);
      expect(message.content).toEqual([{ type: "text", text: "hi there" }]);
      expect(ours.map((event) => (event.type === "text_delta" ? event.delta : "")).join("")).toBe("hi there");
      expect(ours[0]).toEqual({ type: "start" });
    }
  });

  test("a call that is announced late is started before its arguments are shown", () => {
    const at = { output_index: 0, item_id: "fc_a" };
    const pieces = argumentPieces('{"n":', "1}").map((event) => ({ ...event, ...at }));
    const { ours, message } = play([
      created(),
      ...pieces,
      { type: "response.output_item.done", output_index: 0, item: callItem("a", '{"n":1}') },
      completed(),
    ]);
    expect(ours.slice(1, -1)).toEqual([
      { type: "tool_call_start", id: "a", name: "read" },
      { type: "tool_call_delta", id: "a", delta: '{"n":1}' },
      { type: "tool_call_end", id: "a", name: "read", input: { n: 1 } },
    ]);
    expect(message.content).toEqual([callBlock("a", "read", { n: 1 })]);
  });

  test("items without an output index are distinguished by their ids", () => {
    const events = [...call(0, "a", '{"n":1}'), ...call(1, "b", '{"n":2}')].map(
      ({ output_index: _, ...event }) => event,
    );
    expect(contentOf(events, [completed()])).toEqual([
      callBlock("a", "read", { n: 1 }),
      callBlock("b", "read", { n: 2 }),
    ]);
  });

  test("items that all have the index 0 are distinguished by their order", () => {
    const events = [...call(0, "a", "{}"), ...call(0, "b", '{"n":2}')];
    expect(contentOf(events, [completed()])).toEqual([callBlock("a"), callBlock("b", "read", { n: 2 })]);
  });
});

describe("tool arguments", () => {
  test.each([[""], ["{}"], [" "]])("missing arguments, as in %j, are an empty object", (json) => {
    expect(contentOf(call(0, "a", json), [completed()])).toEqual([callBlock("a")]);
  });

  test.each(["[1]", '"text"', "null", "7", "{broken", '{"a":1} {"b":2}'])("%s is kept as invalid", (json) => {
    expect(contentOf(call(0, "a", json), [completed()])).toEqual([{ ...callBlock("a"), invalidInput: json }]);
  });

  test("a call that the token limit cut keeps the received part of its arguments, without its id", () => {
    const cut = (json: string) => [
      created(),
      ...item(0, reasoningItem("rs_1")),
      ...item(1, callItem("a", json, { status: "incomplete" }), ...argumentPieces(json)),
      incomplete("max_output_tokens"),
    ];
    expect(play(cut('{"path": "/et')).message.content[1]).toEqual({
      ...callBlock("a"),
      invalidInput: '{"path": "/et',
    });
    expect(play(cut("")).message.content[1]).toEqual({ ...callBlock("a"), invalidInput: "" });
    const open = [created(), ...openItem(0, callItem("a", "")), incomplete("max_output_tokens")];
    expect(play(open).message.content).toEqual([{ ...callBlock("a"), invalidInput: "" }]);
  });

  test("the caller of a tool is kept unless it was the model itself", () => {
    const caller = { type: "program", caller_id: "prog_1" };
    const fields = [{ caller: { type: "direct" } }, { caller: null, namespace: null }, { caller }];
    const content = fields.flatMap((field) => contentOf(item(0, callItem("a", "{}", field)), [completed()]));
    expect(content).toEqual([callBlock("a"), callBlock("a"), { ...callBlock("a"), ...replayOf({ caller }) }]);
  });
});

describe("the end of an answer", () => {
  const text = item(0, messageItem("msg_1", [textPart("hi")]), ...textPieces(0, "hi"));

  test.each(["max_output_tokens", "content_filter"])("%s is a cut, and its raw reason is kept", (reason) => {
    const { message } = play([created(), ...text, ...call(1, "a", "{}"), incomplete(reason)]);
    expect([message.stopReason, message.rawStopReason]).toEqual(["max_tokens", reason]);
  });

  test("a refusal is shown as text and reported as a refusal", () => {
    const whole = messageItem("msg_1", [{ type: "refusal", refusal: "I will not." }]);
    const { ours, message } = play([
      created(),
      ...item(0, whole, ...refusalPieces("I will ", "not.")),
      completed(),
    ]);
    expect(ours.slice(1, -1)).toEqual([
      { type: "text_delta", delta: "I will " },
      { type: "text_delta", delta: "not." },
      { type: "text_end", text: "I will not." },
    ]);
    expect(message).toMatchObject({
      content: [{ type: "text", text: "I will not." }],
      stopReason: "error",
      rawStopReason: "refusal",
    });
  });

  test("a failure keeps the API's message", () => {
    const error = { code: "server_error", message: "oops" };
    expect(play([created(), { type: "response.failed", response: { error } }]).answer.failure).toEqual(error);
    expect(play([{ type: "error", ...error }]).answer.failure).toMatchObject(error);
    expect(play([{ type: "error", error }]).answer.failure).toEqual(error);
    expect(play([{ type: "error", error: "oops" }]).answer.failure).toEqual({ message: "oops" });
    expect(play([{ type: "response.failed", response: {} }]).answer.failure).toEqual({
      message: "no reason was given",
    });
  });
});

test("an aborted answer contains complete items and partial text, but no partial call or reasoning to send back", () => {
  const { message } = play([
    created(),
    ...item(0, reasoningItem("rs_1", ["done"]), ...summaryPieces(0, "done")),
    ...call(1, "a", '{"n":1}'),
    ...openItem(2, { type: "web_search_call", id: "ws_1" }),
    ...openItem(3, reasoningItem("rs_2"), ...summaryPieces(0, "half")),
    ...openItem(4, messageItem("msg_1", []), ...textPieces(0, "I was").slice(0, 2)),
    ...openItem(5, callItem("b", ""), ...argumentPieces('{"n":2}')),
  ]);
  expect(message).toMatchObject({ stopReason: "aborted" });
  expect(message.content).toEqual([
    { type: "thinking", thinking: "done", ...replayOf(reasoningItem("rs_1", ["done"])) },
    { ...callBlock("a", "read", { n: 1 }), ...replayOf({ id: "fc_a", status: "completed" }) },
    { type: "thinking", thinking: "half" },
    { type: "text", text: "I was" },
  ]);
});

test("token counts are whole numbers of at least zero", () => {
  const details = { cached_tokens: -7, cache_write_tokens: 2.5 };
  const usage = { input_tokens: 10.7, output_tokens: -5, input_tokens_details: details };
  expect(play([created(), completed(usage)]).message.usage).toEqual({
    inputTokens: 8,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 2,
  });
});
