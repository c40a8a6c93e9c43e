import { describe, expect, test } from "bun:test";
import type { ScriptEvent } from "../../src/provider/scripted/script.ts";
import { findStart, findStartTurn } from "../../src/provider/scripted/turns.ts";
import { createScriptedStream } from "../../src/provider/scripted.ts";
import type { StreamFunction, StreamOptions } from "../../src/provider/types.ts";
import { type AssistantMessage, EMPTY_USAGE, type Message, toolCallsOf } from "../../src/types.ts";
import {
  ask,
  assistant,
  errorOf,
  LS_TOOL,
  MODEL,
  messageOf,
  request,
  scripted,
  toolCall,
  toolResult,
  user,
} from "../support/scripted.ts";

const FAILURE = { error: { errorType: "overloaded", message: "busy" } } as const;
const LS_CALL = { name: "ls", input: {} };

function textOf({ content }: AssistantMessage): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** A conversation that holds so many replies. */
function conversation(replies: number): Message[] {
  const pairs = Array.from({ length: replies }, () => [
    user("go on"),
    assistant([{ type: "text", text: "done" }]),
  ]);
  return [...pairs.flat(), user("go on")];
}

describe("the turns of a script", () => {
  test("are played in order, one for each request, retries included", async () => {
    const stream = scripted([{ text: "one" }, FAILURE, { text: "two" }]);
    expect(textOf(messageOf(await ask(stream)))).toBe("one");
    expect(errorOf(await ask(stream, conversation(1)))).toEqual({ errorType: "overloaded", message: "busy" });
    expect(textOf(messageOf(await ask(stream, conversation(1))))).toBe("two");
  });

  test("that are used up end every further request with an error", async () => {
    const stream = scripted([{ text: "one" }, { text: "two" }], { startAtTurn: 1 });
    await ask(stream);
    const ended = { errorType: "invalid_request", message: "script ended at turn 2" };
    expect(errorOf(await ask(stream))).toEqual(ended);
    expect(errorOf(await ask(stream))).toEqual(ended);
  });

  test("continue a conversation after as many turns as it has replies", async () => {
    const stream = scripted([{ text: "one" }, { text: "two" }, { text: "three" }]);
    expect(textOf(messageOf(await ask(stream, conversation(2))))).toBe("three");
  });

  test("are counted from the first request only, so that a compacted history changes nothing", async () => {
    const stream = scripted([{ text: "one" }, { text: "two" }]);
    await ask(stream);
    expect(textOf(messageOf(await ask(stream, conversation(0))))).toBe("two");
  });

  test("begin at the given index, whatever the conversation contains", async () => {
    const stream = scripted([{ text: "one" }, { text: "two" }], { startAtTurn: 0 });
    expect(textOf(messageOf(await ask(stream, conversation(1))))).toBe("one");
  });

  test("that are failures do not count as replies", () => {
    const turns = [FAILURE, { text: "one" }, FAILURE, { text: "two" }];
    expect(findStartTurn(turns, conversation(0))).toBe(0);
    expect(findStartTurn(turns, conversation(1))).toBe(2);
    expect(findStartTurn(turns, conversation(2))).toBe(4);
    expect(findStartTurn(turns, conversation(3))).toBe(4);
  });

  test("of a failure's partial reply do not count, those that ended in a refusal do", () => {
    const turns = [{ text: "one" }, { text: "two" }];
    const broken = assistant([{ type: "text", text: "half" }], "error");
    expect(findStartTurn(turns, [user("a"), broken, user("b")])).toBe(0);
    expect(findStartTurn(turns, [user("a"), { ...broken, rawStopReason: "refusal" }, user("b")])).toBe(1);
  });
});

describe("the ids of a script's tool calls", () => {
  test("are the script's own, or are numbered over the whole script", async () => {
    const turns = [{ toolCalls: [LS_CALL, { ...LS_CALL, id: "mine" }] }, { toolCalls: [LS_CALL] }];
    const stream = scripted(turns, { startAtTurn: 0 });
    const ids = (message: AssistantMessage) =>
      message.content.map((block) => block.type === "tool_call" && block.id);
    expect(ids(messageOf(await ask(stream)))).toEqual(["call_1", "mine"]);
    expect(ids(messageOf(await ask(stream)))).toEqual(["call_3"]);
  });

  test("avoid those that another script has left in the conversation", async () => {
    const history = [user("a"), assistant([toolCall("call_1")]), toolResult("call_1")];
    const stream = scripted([{ toolCalls: [LS_CALL] }], { startAtTurn: 0 });
    expect(messageOf(await ask(stream, history)).content).toEqual([toolCall("call_1_2")]);
  });
});

describe("a conversation that contains the ids already", () => {
  const history = [user("a"), assistant([toolCall("mine")]), toolResult("mine"), user("b")];

  test("gives new ids to calls with the same ids, and keeps the others", async () => {
    const calls = ["mine", "mine_2", "yours"].map((id) => ({ ...LS_CALL, id }));
    const stream = scripted([{ toolCalls: calls }], { startAtTurn: 0 });
    expect(messageOf(await ask(stream, history)).content).toEqual([
      toolCall("mine_3"),
      toolCall("mine_2"),
      toolCall("yours"),
    ]);
  });

  test("gives new ids to calls inside events, everywhere", async () => {
    const events = (first: string): ScriptEvent[] => [
      { type: "start" },
      { type: "tool_call_start", id: first, name: "ls" },
      { type: "tool_call_start", id: "yours", name: "ls" },
      { type: "tool_call_delta", id: first, delta: "{}" },
      { type: "tool_call_end", id: first, name: "ls", input: {} },
      { type: "tool_call_end", id: "yours", name: "ls", input: {} },
    ];
    const call = (id: string) => ({ type: "tool_call" as const, id, name: "ls", input: {} });
    const reply = {
      content: [call("mine"), call("yours")],
      usage: EMPTY_USAGE,
      stopReason: "tool_use" as const,
    };
    const stream = scripted([{ events: events("mine"), reply }], { startAtTurn: 0 });
    const played = await ask(stream, history);
    expect(played.slice(0, -1)).toEqual(events("mine_2"));
    expect(messageOf(played).content).toEqual([call("mine_2"), call("yours")]);
  });

  test("gives no id that is longer than providers accept", async () => {
    const long = "a".repeat(128);
    const stream = scripted([{ toolCalls: [{ ...LS_CALL, id: long }] }], { startAtTurn: 0 });
    const holding = [user("a"), assistant([toolCall(long)]), toolResult(long)];
    expect(messageOf(await ask(stream, holding)).content).toEqual([toolCall(`${"a".repeat(126)}_2`)]);
  });
});

describe("a request for a summary", () => {
  const turns = [{ text: "one" }, { text: "two" }];
  const summarise: StreamOptions = { purpose: "summary" };
  const context = request([user("Summarise this.")], { tools: [LS_TOOL] });

  test("takes from the summaries and not from the turns", async () => {
    const stream = createScriptedStream({ version: 1, turns, summaries: [{ text: "in short" }] });
    expect(textOf((await stream(MODEL, context, summarise).result()).message)).toBe("in short");
    expect(textOf(messageOf(await ask(stream)))).toBe("one");
    await expect(stream(MODEL, context, summarise).result()).rejects.toThrow("script ended at summary 1");
  });

  test("takes a turn when the script has no summaries", async () => {
    const stream = createScriptedStream({ version: 1, turns });
    expect(textOf((await stream(MODEL, context, summarise).result()).message)).toBe("one");
    expect(textOf(messageOf(await ask(stream)))).toBe("two");
  });
});

describe("a session that was summarized", () => {
  const turns = [{ text: "one" }, { text: "two" }, { text: "three" }];
  const messages = conversation(2);

  test("continues after its replies, and after its used summaries", () => {
    const script = { version: 1 as const, turns, summaries: [{ text: "s" }] };
    expect(findStart(script, { messages, summaries: 1 })).toEqual({ startAtTurn: 2, startAtSummary: 1 });
  });

  test("continues after both if summaries are turns", () => {
    expect(findStart({ version: 1, turns }, { messages, summaries: 1 })).toEqual({ startAtTurn: 3 });
  });
});

describe("a request for knowledge", () => {
  const askForKnowledge = async (stream: StreamFunction) =>
    (await stream(MODEL, request([user("go")]), { purpose: "knowledge" }).result()).message;
  const record = { toolCalls: [{ name: "add_knowledge", input: { content: "Tests run with bun." } }] };

  test("is answered by the next turn if that only records knowledge", async () => {
    const stream = scripted([record, { text: "next" }]);
    expect(toolCallsOf(await askForKnowledge(stream))).toMatchObject(record.toolCalls);
    expect(textOf(messageOf(await ask(stream, [user("go")])))).toBe("next");
  });

  test.each([
    ["text", { text: "hello" }],
    ["other calls", { toolCalls: [...record.toolCalls, LS_CALL] }],
    ["an error", FAILURE],
  ])("takes no turn if the next one is %s", async (_, turn) => {
    const stream = scripted([turn]);
    const { content, usage } = await askForKnowledge(stream);
    expect([content, usage]).toEqual([[{ type: "text", text: "none" }], EMPTY_USAGE]);
    const taken = await ask(stream, [user("go")]).catch(() => undefined);
    expect(JSON.stringify(taken)).not.toContain('"none"');
  });

  test("takes no turn of a script that has ended", async () => {
    expect(textOf(await askForKnowledge(scripted([])))).toBe("none");
  });
});
