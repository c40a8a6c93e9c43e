import { describe, expect, test } from "bun:test";
import type { AgentEvent } from "../../../src/agent/types.ts";
import { TurnEvents } from "../../../src/extensions/evidence/turn-events.ts";

function callEnd(toolName: string, output: string): AgentEvent {
  const ids = { itemId: "item", toolCallId: "call" };
  return { type: "tool_end", ...ids, toolName, output, isError: false, metadata: { exitCode: 0 } };
}

function outputsOf(events: TurnEvents): string[] {
  return events.take().flatMap(({ event }) => (event.type === "tool_end" ? [event.output] : []));
}

describe("the events of a turn", () => {
  test("have the end of what a command printed, and nothing of what was read", () => {
    const events = new TurnEvents();
    events.add(callEnd("read", "a file"));
    events.add(callEnd("bash", `${"x".repeat(50_000)}\n 3 pass\n 0 fail\n`));
    const [read, printed] = outputsOf(events);
    expect([read, printed?.length, printed?.endsWith("\n 3 pass\n 0 fail\n")]).toEqual(["", 8_000, true]);
  });

  test("have outputs of the latest commands only, and a turn begins without any", () => {
    const events = new TurnEvents();
    for (let number = 0; number < 250; number++) events.add(callEnd("bash", `output ${number}`));
    const outputs = outputsOf(events);
    expect(outputs.length).toBe(250);
    expect(outputs.filter((output) => output !== "")).toEqual(
      Array.from({ length: 100 }, (_, index) => `output ${150 + index}`),
    );
    events.add(callEnd("bash", "next"));
    expect(outputsOf(events)).toEqual(["next"]);
  });

  test("do not change the given ones", () => {
    const events = new TurnEvents();
    const given = callEnd("read", "a file");
    events.add(given);
    expect([events.hasCalls, given]).toEqual([true, callEnd("read", "a file")]);
  });
});
