import { describe, expect, test } from "bun:test";
import type { AgentEvent, SteeredMessage } from "../../src/agent/types.ts";
import type { UserMessage } from "../../src/types.ts";
import { noteTool, runScript, unpaired, user } from "../support/agent-run.ts";

const call = (text: string, name = "note") => ({ name, input: { text } });
const types = (events: AgentEvent[]) =>
  events.map(({ type }) => type).filter((type) => type !== "message_delta");
const outputs = (messages: { role: string; output?: string }[]) =>
  messages.flatMap((message) => (message.role === "tool_result" ? [message.output] : []));

describe("a run", () => {
  test("requests, runs the calls, requests again, and emits all events in order", async () => {
    const { events, added, end } = await runScript([
      { text: "I note.", toolCalls: [call("a")] },
      { text: "Done." },
    ]);
    expect(types(events)).toEqual([
      "agent_start",
      "status_change",
      "turn_start",
      "message_start",
      "message_end",
      "usage",
      "tool_start",
      "tool_end",
      "turn_end",
      "turn_start",
      "message_start",
      "message_end",
      "usage",
      "turn_end",
      "status_change",
      "agent_end",
    ]);
    expect(added.map(({ role }) => role)).toEqual(["assistant", "tool_result", "assistant"]);
    expect(end).toEqual({ type: "agent_end", messages: added, stopReason: "end_turn" });
  });

  test("the events of one item carry one itemId, and no two items share one", async () => {
    const { events } = await runScript([
      { text: "I.", toolCalls: [call("a"), call("b")] },
      { text: "Done." },
    ]);
    const items = new Map<string, Set<string>>();
    for (const event of events) {
      if (!("itemId" in event)) continue;
      const subject = "toolCallId" in event ? event.toolCallId : "message";
      items.set(event.itemId, (items.get(event.itemId) ?? new Set()).add(subject));
    }
    expect([...items.values()].map((subjects) => [...subjects])).toEqual([
      ["message"],
      ["call_1"],
      ["call_2"],
      ["message"],
    ]);
  });

  test("every message is recorded before the event that shows it as finished", async () => {
    const recorded: unknown[] = [];
    const early: string[] = [];
    await runScript([{ text: "I.", toolCalls: [call("a")] }, { text: "Done." }], {
      record: (message) => recorded.push(message),
      onEvent: (event) => {
        if (event.type === "message_end" && !recorded.includes(event.message)) early.push(event.type);
        if (event.type === "tool_end" && recorded.length % 2 !== 0) early.push(event.type);
      },
    });
    expect(recorded).toHaveLength(3);
    expect(early).toEqual([]);
  });

  test("the message that grows with the deltas ends as the whole text", async () => {
    const { events } = await runScript([{ thinking: "Let me see.", text: "One two three four five six." }]);
    const last = events.findLast((event) => event.type === "message_delta");
    expect(last?.message.content).toEqual([
      { type: "thinking", thinking: "Let me see." },
      { type: "text", text: "One two three four five six." },
    ]);
  });

  test("a bug in the caller's hooks ends the run as an error event, not as a rejection", async () => {
    const { end, events } = await runScript([{ text: "a" }], {
      record: () => {
        throw new Error("broken hook");
      },
    });
    expect(end.stopReason).toBe("error");
    expect(events.find((event) => event.type === "error")).toMatchObject({
      fatal: true,
      error: { message: "broken hook" },
    });
  });

  test("every event survives a JSON roundtrip", async () => {
    const { events } = await runScript([
      { text: "a", toolCalls: [call("b")] },
      { error: { errorType: "auth", message: "no" } },
    ]);
    expect(JSON.parse(JSON.stringify(events))).toEqual(events);
  });
});

describe("tool calls", () => {
  test("adjacent read-only calls run in parallel, all others one after the other, with results in call order", async () => {
    const calls: string[] = [];
    const tools = [
      noteTool({ name: "slow", readOnly: true, delayMs: 20, calls }),
      noteTool({ name: "quick", readOnly: true, calls }),
      noteTool({ name: "change", calls }),
    ];
    const toolCalls = [call("a", "slow"), call("b", "quick"), call("c", "change"), call("d", "quick")];
    const { added } = await runScript([{ toolCalls }, { text: "Done." }], { tools });
    expect(calls).toEqual(["start a", "start b", "end b", "end a", "start c", "end c", "start d", "end d"]);
    expect(unpaired(added)).toEqual([]);
  });

  test("results that finish out of order are emitted, recorded and sent in call order", async () => {
    const tools = [
      noteTool({ name: "slow", readOnly: true, delayMs: 10 }),
      noteTool({ name: "quick", readOnly: true }),
    ];
    const { events, added } = await runScript(
      [{ toolCalls: [call("a", "slow"), call("b", "quick")] }, { text: "Done." }],
      { tools },
    );
    const turn = events.find((event) => event.type === "turn_end");
    expect(outputs(turn?.toolResults ?? [])).toEqual(["noted a", "noted b"]);
    const ended = events.filter((event) => event.type === "tool_end");
    expect(ended.map(({ output }) => output)).toEqual(["noted a", "noted b"]);
    expect(outputs(added.filter((message) => message.role === "tool_result"))).toEqual([
      "noted a",
      "noted b",
    ]);
  });

  test("a tool is prepared when the model begins to write a call, before its arguments have arrived", async () => {
    const order: string[] = [];
    const tool = { ...noteTool(), prepare: () => void order.push("prepare") };
    const { end } = await runScript(
      [{ toolCalls: [call("a long text")], chunkChars: 4 }, { text: "Done." }],
      {
        tools: [tool],
        onEvent: (event) => {
          if (event.type === "message_delta" && event.delta.type === "tool_call_delta")
            order.push("arguments");
          if (event.type === "tool_start") order.push("start");
        },
      },
    );
    expect(end.stopReason).toBe("end_turn");
    expect(order.indexOf("prepare")).toBe(0);
    expect(order.filter((each) => each !== "arguments")).toEqual(["prepare", "start"]);
    expect(order.filter((each) => each === "arguments").length).toBeGreaterThan(1);
  });

  test("unknown tools and invalid arguments get an error result, and the run continues", async () => {
    const toolCalls = [
      { name: "nope", input: {} },
      { name: "note", input: { wrong: 1 } },
      { name: "note", input: '{"text":' },
    ];
    const { added, end } = await runScript([{ toolCalls }, { text: "I see." }]);
    expect(added.map((message) => message.role === "tool_result" && message.isError)).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(end.stopReason).toBe("end_turn");
  });

  test("an unattended rejection is reported to the model and ends the run with approval", async () => {
    const { added, end } = await runScript([{ toolCalls: [call("a")] }, { text: "Without it then." }], {
      approve: async (_, { announce }) => {
        announce("shell command");
        return { response: "reject", message: "Nobody can answer.", unattended: true };
      },
    });
    expect(outputs(added)).toEqual(["Nobody can answer."]);
    expect(end.stopReason).toBe("approval");
  });

  test("an unattended rejection counts only in the last reply with calls", async () => {
    const endOf = async (...turns: string[][]) => {
      const script = turns.map((names) => ({ toolCalls: names.map((name) => call(name)) }));
      const { end } = await runScript([...script, { text: "Done." }], {
        approve: async ({ details }) =>
          JSON.stringify(details).includes("refused")
            ? { response: "reject", message: "Nobody can answer.", unattended: true }
            : "once",
      });
      return end.stopReason;
    };
    expect(await endOf(["refused"], ["other"])).toBe("end_turn");
    expect(await endOf(["other"], ["refused"])).toBe("approval");
    expect(await endOf(["refused", "other"])).toBe("approval");
    expect(await endOf(["refused"], ["refused"], ["other", "other"])).toBe("end_turn");
  });

  test("a rejection that ends the turn answers the remaining calls without running them", async () => {
    const calls: string[] = [];
    const { added, end } = await runScript(
      [{ toolCalls: [call("a"), call("b")] }, { text: "Never asked." }],
      {
        tools: [noteTool({ calls })],
        approve: async () => ({ response: "reject", endTurn: true }),
      },
    );
    expect([calls, unpaired(added), end.stopReason]).toEqual([[], [], "approval"]);
  });
});

describe("limits", () => {
  test("maxTurns counts replies with their results", async () => {
    const calls: string[] = [];
    const turns = ["a", "b", "c"].map((text) => ({ toolCalls: [call(text)] }));
    const { end, added } = await runScript(turns, { maxTurns: 2, tools: [noteTool({ calls })] });
    expect(calls).toEqual(["start a", "end a", "start b", "end b"]);
    expect([end.stopReason, unpaired(added)]).toEqual(["max_turns", []]);
  });

  test("when a reply reaches the cost limit, its calls are not run", async () => {
    const calls: string[] = [];
    const { end, added } = await runScript([{ toolCalls: [call("a")], usage: { inputTokens: 1_000_000 } }], {
      model: {
        id: "m",
        provider: "p",
        contextWindow: 1,
        maxOutputTokens: 1,
        inputCostPer1M: 1,
        outputCostPer1M: 1,
      },
      maxCost: 1,
      tools: [noteTool({ calls })],
    });
    expect(calls).toEqual([]);
    expect(outputs(added)).toEqual(["Not run: limit reached."]);
    expect(end.stopReason).toBe("max_cost");
  });

  test("a call that keeps giving the same result is warned about, then stopped", async () => {
    const turns = Array.from({ length: 9 }, () => ({ toolCalls: [call("same")] }));
    const { end, added, events } = await runScript(turns);
    const results = outputs(added);
    expect(results.map((output) => output?.includes("same result"))).toEqual([
      ...[false, false],
      ...[true, true, true, true],
    ]);
    expect(end.stopReason).toBe("loop");
    const notices = events
      .filter((event) => event.type === "notice")
      .map(({ code, level }) => `${code} ${level}`);
    expect(notices).toEqual(["loop warning", "loop warning", "loop warning", "loop error"]);
  });

  test("a loop continues as long as the user confirms it, and ends otherwise", async () => {
    const turns = Array.from({ length: 20 }, () => ({ toolCalls: [call("same")] }));
    const answers = ["once", "reject"] as const;
    const asked: (number | undefined)[] = [];
    const { end, added } = await runScript(turns, {
      approve: async (_, { repeats }) => {
        if (repeats === undefined) return "once";
        asked.push(repeats);
        return answers[asked.length - 1] ?? "reject";
      },
    });
    expect([asked, outputs(added).length, end.stopReason]).toEqual([[6, 6], 12, "loop"]);
  });

  test("repeated calls of a tool that waits do not count as a loop", async () => {
    const turns = [...Array.from({ length: 20 }, () => ({ toolCalls: [call("same")] })), { text: "Done." }];
    const { end } = await runScript(turns, { tools: [{ ...noteTool(), waits: () => true }] });
    expect(end.stopReason).toBe("end_turn");
  });

  test("calls of a cut reply are not run; a second cut reply in a row ends the run", async () => {
    const calls: string[] = [];
    const cut = { toolCalls: [call("a")], stopReason: "max_tokens" };
    const { end, added } = await runScript([cut, cut, { text: "Never asked." }], {
      tools: [noteTool({ calls })],
    });
    expect([calls, end.stopReason, unpaired(added)]).toEqual([[], "max_tokens", []]);
    expect(outputs(added)[0]).toContain("cut off at the output limit");
  });

  test("after a cut-off reply, the run continues with a shorter one", async () => {
    const { end } = await runScript([
      { toolCalls: [call("a")], stopReason: "max_tokens" },
      { text: "Shorter." },
    ]);
    expect(end.stopReason).toBe("end_turn");
  });
});

describe("the end of a reply", () => {
  test("cut text ends the run with max_tokens", async () => {
    expect((await runScript([{ text: "long", stopReason: "max_tokens" }])).end.stopReason).toBe("max_tokens");
  });

  test.each([
    ["max_tokens", "output limit of scripted/test.json"],
    ["model_context_window_exceeded", "the context window of scripted/test.json is full"],
  ])("a text cut by %s reports the limit that it reached", async (stopReason, words) => {
    const { events, end } = await runScript([{ text: "long", stopReason }]);
    const notice = events.find((event) => event.type === "notice");
    expect([end.stopReason, notice?.message]).toEqual(["max_tokens", expect.stringContaining(words)]);
  });

  test.each([
    ["an unknown reason is shown", { text: "Hm.", stopReason: "weird_new" }, "stop_reason"],
    ["an empty answer is said", { thinking: "Hm." }, "empty_answer"],
  ])("%s", async (_, turn, code) => {
    const { events, end } = await runScript([turn]);
    const codes = events.flatMap((event) => (event.type === "notice" ? [event.code] : []));
    expect([end.stopReason, codes]).toEqual(["end_turn", [code]]);
  });

  test("a refusal is distinct from an error", async () => {
    expect((await runScript([{ text: "No.", stopReason: "refusal" }])).end).toMatchObject({
      stopReason: "refusal",
    });
  });

  test("after a pause, the same content is sent again", async () => {
    const { end, added } = await runScript([
      { text: "Searching", stopReason: "pause_turn" },
      { text: "Found." },
    ]);
    expect([added.length, end.stopReason]).toEqual([2, "end_turn"]);
  });

  test("endless pauses end in an error", async () => {
    const turns = Array.from({ length: 20 }, () => ({ text: "Searching", stopReason: "pause_turn" }));
    const { end, added } = await runScript(turns);
    expect([added.length, end.stopReason]).toEqual([11, "error"]);
  });

  test("an error before any text leaves no message and has its kind", async () => {
    const { end, added } = await runScript([{ error: { errorType: "auth", message: "401 wrong key" } }]);
    expect(added).toEqual([]);
    expect(end.error).toEqual({ name: "ProviderError", message: "401 wrong key", errorType: "auth" });
  });

  test("an error in the middle of a text keeps what was shown", async () => {
    const turn = { text: "Half a", error: { errorType: "network" as const, message: "reset" } };
    const { added, end } = await runScript([turn]);
    expect(added).toMatchObject([{ content: [{ type: "text", text: "Half a" }], stopReason: "error" }]);
    expect(end.stopReason).toBe("error");
  });
});

describe("aborting", () => {
  async function abortWhen(
    turns: Parameters<typeof runScript>[0],
    isMoment: (event: AgentEvent) => boolean,
    tools = [noteTool({ delayMs: 5_000, readOnly: true })],
  ) {
    const abort = new AbortController();
    return runScript(turns, {
      signal: abort.signal,
      tools,
      onEvent: (event) => isMoment(event) && abort.abort(),
    });
  }

  test.each([
    ["before the reply", { text: "a", delayMs: 5_000 }, (event: AgentEvent) => event.type === "turn_start"],
    [
      "in the text",
      { text: "a b c d e f g h", chunkChars: 2, chunkDelayMs: 20 },
      (event: AgentEvent) => event.type === "message_delta",
    ],
    [
      "in the arguments",
      { toolCalls: [call("x".repeat(200))], chunkChars: 5, chunkDelayMs: 20 },
      (event: AgentEvent) => event.type === "message_delta",
    ],
    [
      "in a running tool",
      { toolCalls: [call("a"), call("b")] },
      (event: AgentEvent) => event.type === "tool_start",
    ],
  ])("%s leaves a valid history and ends as aborted", async (_, turn, isMoment) => {
    const { end, added, recorded } = await abortWhen([turn, { text: "Never asked." }], isMoment);
    expect(end.stopReason).toBe("aborted");
    expect(unpaired(added)).toEqual([]);
    expect(recorded).toEqual(added);
  });

  test("of two parallel tools the finished one keeps its result and the other is marked interrupted", async () => {
    const calls: string[] = [];
    const tools = [
      noteTool({ name: "quick", readOnly: true, calls }),
      noteTool({ name: "slow", readOnly: true, delayMs: 5_000 }),
      noteTool({ name: "look", readOnly: true, delayMs: 1 }),
    ];
    const toolCalls = [call("look", "look"), call("a", "slow"), call("b", "quick")];
    const turns = [{ toolCalls }, { text: "Never asked." }];
    const isOver = (event: AgentEvent) => event.type === "tool_end" && calls.includes("end b");
    const { events } = await abortWhen(turns, isOver, tools);
    const turn = events.find((event) => event.type === "turn_end");
    expect(turn?.toolResults.map(({ output, isError }) => [output.split(":")[0], isError])).toEqual([
      ["noted look", false],
      ["Interrupted", true],
      ["noted b", false],
    ]);
  });

  test("a signal that was aborted before the start makes no request", async () => {
    const { end, added } = await runScript([{ text: "Never asked." }], { signal: AbortSignal.abort() });
    expect([end.stopReason, added]).toEqual(["aborted", []]);
  });
});

describe("steering messages", () => {
  test("a message joins before the next request and is recorded", async () => {
    const queue: UserMessage[] = [];
    const { added, events } = await runScript([{ toolCalls: [call("a")] }, { text: "As you say." }], {
      takeSteering: () => queue.splice(0),
      onEvent: (event) => event.type === "tool_start" && queue.push(user("rather b")),
    });
    expect(added.map(({ role }) => role)).toEqual(["assistant", "tool_result", "user", "assistant"]);
    expect(events).toContainEqual({ type: "steering", text: "rather b" });
  });

  test("a message with an id is emitted with the id, and recorded without it", async () => {
    const note: SteeredMessage = { message: user("I ran ls"), id: "7", isNote: true };
    const queue = [note];
    const { added, events } = await runScript([{ text: "Seen." }], { takeSteering: () => queue.splice(0) });
    expect(added[0]).toEqual(user("I ran ls"));
    expect(events).toContainEqual({ type: "steering", text: "I ran ls", id: "7", isNote: true });
  });

  test("a message that arrives while the last reply is reviewed continues the run", async () => {
    const queue: UserMessage[] = [];
    let reviews = 0;
    const { added } = await runScript([{ text: "Done." }, { text: "Also that." }], {
      takeSteering: () => queue.splice(0),
      async reviewAnswer() {
        if (reviews++ === 0) queue.push(user("and that"));
        return undefined;
      },
    });
    expect(added.map(({ role }) => role)).toEqual(["assistant", "user", "assistant"]);
  });

  test("a message that arrives during the last reply continues the run", async () => {
    const queue: UserMessage[] = [];
    let replies = 0;
    const { added } = await runScript([{ text: "Done." }, { text: "Also that." }], {
      takeSteering: () => queue.splice(0),
      onEvent: (event) => event.type === "message_end" && replies++ === 0 && queue.push(user("and that")),
    });
    expect(added.map(({ role }) => role)).toEqual(["assistant", "user", "assistant"]);
  });
});
