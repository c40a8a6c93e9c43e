import { describe, expect, test } from "bun:test";
import type { SessionEntry } from "@diligent/core/run";
import { findLost } from "../src/kill.ts";
import { toMessage } from "../src/stage/session-files.ts";

const entries: SessionEntry[] = [0, 1, 2].map((number) => ({
  type: "message",
  id: `0000000${number}`,
  parentId: null,
  timestamp: "",
  message: toMessage(number, "output"),
}));
const [, reply] = entries;
const messageEnd = { type: "message_end", message: reply?.type === "message" && reply.message };
const toolEnd = { type: "tool_end", toolCallId: "toolu_0", output: "output" };

describe("findLost", () => {
  test("finds nothing if the file contains everything that was finished", () => {
    expect(findLost([{ type: "tool_start" }, messageEnd, toolEnd], entries)).toEqual([]);
  });

  test("finds a message, a result and a prompt that are missing in the file", () => {
    expect(findLost([messageEnd], entries.slice(0, 1))).toEqual([JSON.stringify(messageEnd)]);
    expect(findLost([toolEnd], entries.slice(0, 2))).toEqual([JSON.stringify(toolEnd)]);
    expect(findLost([{ ...toolEnd, output: "other" }], entries)).toHaveLength(1);
    expect(findLost([messageEnd, toolEnd], entries.slice(1))).toEqual(["the prompt"]);
    expect(findLost([messageEnd], [])).toHaveLength(1);
  });

  test("finds nothing for a run that had finished nothing", () => {
    expect(findLost([{ type: "session" }, { type: "message_delta" }], [])).toEqual([]);
  });
});
