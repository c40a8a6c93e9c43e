import { describe, expect, test } from "bun:test";
import { LOOP_WINDOW, LoopDetector } from "../../src/agent/loop-detector.ts";
import type { ToolCallBlock } from "../../src/types.ts";

function call(input: Record<string, unknown>, name = "bash"): ToolCallBlock {
  return { type: "tool_call", id: "any", name, input };
}

function actions(steps: [ToolCallBlock, string][]): string[] {
  const detector = new LoopDetector();
  return steps.map(([toolCall, result]) => detector.observe(toolCall, result).action);
}

describe("LoopDetector", () => {
  test("warns at the third and stops at the fifth time of the same call with the same result", () => {
    const steps = Array.from({ length: 5 }, (): [ToolCallBlock, string] => [call({ command: "ls" }), "a"]);
    expect(actions(steps)).toEqual(["none", "none", "warn", "warn", "stop"]);
  });

  test("the order of argument names does not matter", () => {
    const steps: [ToolCallBlock, string][] = [
      [call({ a: { x: 1, y: 2 }, b: 2 }), "same"],
      [call({ b: 2, a: { y: 2, x: 1 } }), "same"],
      [call({ a: { x: 1, y: 2 }, b: 2 }), "same"],
    ];
    expect(actions(steps).at(-1)).toBe("warn");
  });

  test("polling with changing results is no loop", () => {
    const steps = Array.from({ length: 50 }, (_, index): [ToolCallBlock, string] => [
      call({ id: 1 }),
      `${index} %`,
    ]);
    expect(new Set(actions(steps))).toEqual(new Set(["none"]));
  });

  test("a cycle of several calls is found", () => {
    const cycle = ["a", "b", "c", "d"].map((command): [ToolCallBlock, string] => [call({ command }), "no"]);
    expect(actions([cycle, cycle, cycle, cycle, cycle].flat()).at(-1)).toBe("stop");
  });

  test("a test that fails alike after each of several different edits is no loop", () => {
    const detector = new LoopDetector();
    const seen = Array.from({ length: 8 }, (_, round) => {
      detector.observe(call({ round }, "edit"), "edited", true);
      return detector.observe(call({ command: "npm test" }), "1 failed").action;
    });
    expect(new Set(seen)).toEqual(new Set(["none"]));
  });

  test("the same edits to and fro are one", () => {
    const detector = new LoopDetector();
    const seen = Array.from(
      { length: 10 },
      (_, round) => detector.observe(call({ to: round % 2 }, "edit"), "edited", true).action,
    );
    expect(seen.at(-1)).toBe("stop");
  });

  test("repetitions further apart than the window do not add up", () => {
    const apart = Array.from({ length: 10 }, (_, round) => [
      [call({ command: "test" }), "fail"] as [ToolCallBlock, string],
      ...Array.from({ length: LOOP_WINDOW }, (_, step): [ToolCallBlock, string] => [
        call({ round, step }),
        "ok",
      ]),
    ]).flat();
    expect(new Set(actions(apart))).toEqual(new Set(["none"]));
  });
});
