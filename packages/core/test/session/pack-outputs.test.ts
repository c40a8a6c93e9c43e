import { describe, expect, test } from "bun:test";
import { contextMessages } from "../../src/session/context-builder.ts";
import { SessionLog } from "../../src/session/log.ts";
import type { ToolResultMessage } from "../../src/types.ts";

function createResult(output: string): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId: "call_1",
    toolName: "bash",
    output,
    isError: false,
    timestamp: 1,
  };
}

function isPacked(message: object): boolean {
  return Object.getOwnPropertyDescriptor(message, "output")?.get !== undefined;
}

const LONG = "const value = compute(1); // ä, 漢字, 👍\n".repeat(1_000);

function logOf(...outputs: string[]) {
  const log = new SessionLog(undefined);
  const messages = outputs.map(createResult);
  const entries = messages.map((message) => log.append((place) => ({ type: "message", ...place, message })));
  const summarizeBefore = (index: number) =>
    log.append((place) => ({
      type: "compaction",
      ...place,
      summary: "What happened.",
      firstKeptEntryId: entries[index]?.id ?? "",
      tokensBefore: 2,
      tokensAfter: 1,
    }));
  const prune = (ids: { cleared?: number[]; trimmed?: number[] }) => {
    const idsOf = (indexes: number[] = []) => indexes.map((index) => entries[index]?.id ?? "");
    log.append((place) => ({
      type: "prune",
      ...place,
      cleared: idsOf(ids.cleared),
      trimmed: idsOf(ids.trimmed),
    }));
  };
  return { log, messages, summarizeBefore, prune };
}

describe("outputs that no request holds any more", () => {
  test("are packed by a compaction, and read and are saved as before", () => {
    const { log, messages, summarizeBefore } = logOf(LONG, LONG);
    const before = JSON.stringify(log.entries);
    summarizeBefore(1);
    expect(messages.map(isPacked)).toEqual([true, false]);
    expect(messages.map(({ output }) => output)).toEqual([LONG, LONG]);
    expect(JSON.stringify(log.entries.slice(0, 2))).toBe(before);
    expect({ ...messages[0] }).toEqual(createResult(LONG));
  });

  test("are packed when they are cleared, not when they are only trimmed", () => {
    const { log, messages, prune } = logOf(LONG, LONG, LONG);
    prune({ cleared: [0], trimmed: [1] });
    expect(messages.map(isPacked)).toEqual([true, false, false]);
    const shown = contextMessages(log.path()).map(({ message }) => message);
    expect(shown[0]).toMatchObject({ output: expect.stringContaining("[Tool output cleared") });
    expect(shown[2]).toBe(messages[2]);
  });

  test("stay as they are where they are short, or half a character would be lost", () => {
    const torn = `${LONG}\ud83d`;
    const { messages, summarizeBefore } = logOf("short", torn, "kept");
    summarizeBefore(2);
    expect(messages.map(isPacked)).toEqual([false, false, false]);
    expect(messages[1]?.output).toBe(torn);
  });

  test("are packed once, however often the conversation is compacted", () => {
    const { messages, summarizeBefore } = logOf(LONG, LONG, LONG);
    summarizeBefore(1);
    const [first] = messages.map((message) => Object.getOwnPropertyDescriptor(message, "output")?.get);
    summarizeBefore(2);
    expect(messages.map(isPacked)).toEqual([true, true, false]);
    expect(Object.getOwnPropertyDescriptor(messages[0], "output")?.get).toBe(first);
  });
});
