import { describe, expect, test } from "bun:test";
import type { Message, SessionEntry } from "@diligent/core";
import { toResumedBlocks, toTranscriptBlocks } from "../../src/tui/transcript.ts";
import { assistantMessage } from "../support/agent-events.ts";

const user = (content: string): Message => ({ role: "user", content, timestamp: 1 });
const call = (id: string, name = "ls") => ({ type: "tool_call" as const, id, name, input: { path: "." } });
const result = (toolCallId: string, output = "done", isError = false): Message => ({
  role: "tool_result",
  toolCallId,
  toolName: "ls",
  output,
  isError,
  timestamp: 3_000,
});

const toPath = (messages: readonly Message[]): SessionEntry[] =>
  messages.map((message, index) => ({
    type: "message",
    id: String(index),
    parentId: index === 0 ? null : String(index - 1),
    timestamp: "2026-01-01T00:00:00Z",
    message,
  }));

const compaction: SessionEntry = {
  type: "compaction",
  id: "c",
  parentId: null,
  timestamp: "2026-01-01T00:00:00Z",
  summary: "what was",
  firstKeptEntryId: "0",
  tokensBefore: 142_000,
  tokensAfter: 20_000,
};

describe("messages as blocks", () => {
  test("are prompts, answers and calls with their results", () => {
    const messages = [
      user("look"),
      assistantMessage("", {
        content: [{ type: "thinking", thinking: "hm" }, { type: "text", text: "I look." }, call("1")],
        timestamp: 1_000,
        stopReason: "tool_use",
      }),
      result("1", "a.ts"),
      assistantMessage("Done."),
    ];
    expect(toTranscriptBlocks(messages)).toEqual([
      { type: "prompt", text: "look" },
      { type: "answer", markdown: "I look." },
      {
        type: "tool",
        call: {
          toolCallId: "1",
          toolName: "ls",
          input: { path: "." },
          startedAt: 1_000,
          result: { output: "a.ts", isError: false, metadata: {}, endedAt: 3_000 },
        },
      },
      { type: "answer", markdown: "Done." },
    ]);
  });

  test("show a call without a result as interrupted, and how an answer broke off", () => {
    const broken = assistantMessage("I", { content: [call("1")], stopReason: "aborted", timestamp: 5_000 });
    expect(toTranscriptBlocks([broken])).toMatchObject([
      {
        type: "tool",
        call: { result: { isError: true, output: expect.stringContaining("No result"), endedAt: 5_000 } },
      },
      { type: "notice", level: "warning", text: "stopped here" },
    ]);
  });

  test("show the saved outcome of a call", () => {
    const saved: Message = {
      ...{ role: "tool_result", toolCallId: "1", toolName: "bash", timestamp: 3_000 },
      ...{
        output: "Refused: connection",
        isError: true,
        outcome: "failed",
        metadata: { exitCode: 1, durationMs: 40 },
      },
    };
    expect(toTranscriptBlocks([assistantMessage("", { content: [call("1", "bash")] }), saved])).toMatchObject(
      [
        {
          call: {
            result: {
              output: "Refused: connection",
              outcome: "failed",
              metadata: { exitCode: 1, durationMs: 40 },
            },
          },
        },
      ],
    );
  });

  test("give two calls with the same id their results in order", () => {
    const messages = [
      assistantMessage("", { content: [call("1"), call("1")] }),
      result("1", "a"),
      result("1", "b"),
    ];
    const outputs = toTranscriptBlocks(messages).map((block) =>
      block.type === "tool" ? block.call.result?.output : undefined,
    );
    expect(outputs).toEqual(["a", "b"]);
  });

  test("show the typed text of a prompt, not its attachments", () => {
    const content = [
      { type: "text" as const, text: "look at @a.ts" },
      { type: "text" as const, text: "a.ts\n```\nall of it\n```" },
    ];
    expect(toTranscriptBlocks([{ role: "user", content, timestamp: 1 }])).toEqual([
      { type: "prompt", text: "look at @a.ts" },
    ]);
  });
});

describe("a resumed conversation", () => {
  const turn = (index: number) => [user(`q${index}`), assistantMessage(`a${index}`)];
  const texts = (path: readonly SessionEntry[], turns?: number) =>
    toResumedBlocks(path, turns).map((block) => {
      if (block.type === "prompt" || block.type === "notice") return block.text;
      return block.type === "answer" ? block.markdown : JSON.stringify(block);
    });

  test("shows its last three turns and the number of messages above", () => {
    const path = toPath([...turn(1), ...turn(2), ...turn(3), ...turn(4)]);
    expect(texts(path)).toEqual([
      '{"type":"resumed","hiddenMessages":2}',
      "q2",
      "a2",
      "q3",
      "a3",
      "q4",
      "a4",
    ]);
    expect(texts(path.slice(2))).toEqual(["q2", "a2", "q3", "a3", "q4", "a4"]);
    expect(texts([])).toEqual([]);
  });

  test("shows where it was compacted, without counting that as a message", () => {
    const path = [...toPath([...turn(1), ...turn(2)]), compaction, ...toPath(turn(3))];
    expect(texts(path, 1)).toEqual(['{"type":"resumed","hiddenMessages":4}', "q3", "a3"]);
    expect(texts(path, 2)).toEqual([
      '{"type":"resumed","hiddenMessages":2}',
      ...["q2", "a2", "Context compacted: 142k → 20k tokens", "q3", "a3"],
    ]);
  });

  test("with one endless turn shows its end, never a result without its call", () => {
    const calls = Array.from({ length: 100 }, (_, index) => [
      assistantMessage("", { content: [call(String(index))], stopReason: "tool_use" }),
      result(String(index)),
    ]).flat();
    const blocks = toResumedBlocks(toPath([user("go"), ...calls, assistantMessage("Done.")]));
    expect(blocks[0]).toEqual({ type: "resumed", hiddenMessages: 163 });
    expect(blocks).toHaveLength(1 + 19 + 1);
    const isWhole = blocks.every((block) => block.type !== "tool" || block.call.result?.output === "done");
    expect(isWhole).toBe(true);
  });
});
