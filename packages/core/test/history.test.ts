import { describe, expect, test } from "bun:test";
import { EMPTY_OUTPUT, OUTCOME_UNKNOWN, toSendableHistory } from "../src/history.ts";
import type { Message } from "../src/types.ts";
import { createFuzzedHistory, createRandom } from "./support/fuzzed-history.ts";
import { assistant, call, image, result, text, user } from "./support/messages.ts";

describe("toSendableHistory", () => {
  test("a valid list returns the same message objects", () => {
    const messages = [
      user("hi"),
      assistant([{ type: "thinking", thinking: "hm" }, text("ok"), call("a"), call("b")]),
      result("a"),
      result("b"),
      user([text("look"), image()]),
      assistant([text("done")]),
    ];
    const sendable = toSendableHistory(messages);
    expect(sendable).toHaveLength(messages.length);
    for (const [index, message] of sendable.entries()) expect(message).toBe(messages[index] ?? user(""));
  });

  test("a call without a result gets an error result that says its outcome is unknown", () => {
    const turn = assistant([call("a"), call("b", "bash")]);
    expect(toSendableHistory([turn, result("a"), user("go on")])).toEqual([
      turn,
      result("a"),
      result("b", OUTCOME_UNKNOWN, { toolName: "bash", isError: true, outcome: "interrupted" }),
      user("go on"),
    ]);
  });

  test("results move directly behind their message, in call order", () => {
    const turn = assistant([call("a"), call("b")]);
    expect(toSendableHistory([turn, user("wait"), result("b", "B"), result("a", "A")])).toEqual([
      turn,
      result("a", "A"),
      result("b", "B"),
      user("wait"),
    ]);
  });

  test("results without a call and second results are dropped", () => {
    const turn = assistant([call("a")]);
    const messages = [result("a", "early"), turn, result("a", "first"), result("a", "second"), result("x")];
    expect(toSendableHistory(messages)).toEqual([turn, result("a", "first")]);
  });

  test("calls with the same id in one message get separate ids, each with its result", () => {
    expect(
      toSendableHistory([assistant([call("a"), call("a"), call("")]), result("a", "1"), result("a", "2")]),
    ).toEqual([
      assistant([call("a"), call("a_2"), call("call")]),
      result("a", "1"),
      result("a_2", "2"),
      result("call", OUTCOME_UNKNOWN, { isError: true, outcome: "interrupted" }),
    ]);
  });

  test("a result for an id that is used again in a later message belongs to that message", () => {
    expect(toSendableHistory([assistant([call("a")]), assistant([call("a")]), result("a", "late")])).toEqual([
      assistant([call("a")]),
      result("a", OUTCOME_UNKNOWN, { isError: true, outcome: "interrupted" }),
      assistant([call("a_2")]),
      result("a_2", "late"),
    ]);
  });

  test("blank text and messages that are left empty are dropped", () => {
    const messages = [
      user(" \n"),
      user([text(""), text("kept")]),
      user([]),
      assistant([text("\t"), text("said")]),
      assistant([text("")]),
      assistant([]),
    ];
    expect(toSendableHistory(messages)).toEqual([user([text("kept")]), assistant([text("said")])]);
  });

  test("an empty output becomes a marker unless it has images", () => {
    const turn = assistant([call("a"), call("b")]);
    const withImage = result("b", "", { images: [image()] });
    expect(toSendableHistory([turn, result("a", " \n"), withImage])).toEqual([
      turn,
      result("a", EMPTY_OUTPUT),
      withImage,
    ]);
  });

  test("blocks that do not fit the role of their message are dropped", () => {
    expect(toSendableHistory([user([call("a"), text("hi")]), assistant([image(), text("yes")])])).toEqual([
      user([text("hi")]),
      assistant([text("yes")]),
    ]);
  });

  test("sendable parts stay unchanged, for ten thousand broken histories", () => {
    const random = createRandom(1);
    for (let round = 0; round < 10_000; round++) {
      const once = toSendableHistory(createFuzzedHistory(random));
      expect(toSendableHistory(once)).toEqual(once);
    }
  });

  test("an appended message changes nothing before it except a missing result", () => {
    const random = createRandom(2);
    for (let round = 0; round < 3_000; round++) {
      const messages = createFuzzedHistory(random);
      const before = toSendableHistory(messages.slice(0, -1));
      const after = toSendableHistory(messages);
      expect(after.slice(0, before.length).map(withoutOutput)).toEqual(before.map(withoutOutput));
    }
  });
});

/** Results alike whether they came or are missing. */
function withoutOutput(message: Message): Message {
  return message.role === "tool_result"
    ? {
        role: "tool_result",
        toolCallId: message.toolCallId,
        toolName: "",
        output: "",
        isError: false,
        timestamp: 0,
      }
    : message;
}
