import { describe, expect, test } from "bun:test";
import { LoopDetector } from "../../src/agent/loop-detector.ts";
import type { ToolCallBlock } from "../../src/types.ts";

function call(input: Record<string, unknown>, name = "bash"): ToolCallBlock {
  return { type: "tool_call", id: "any", name, input };
}

/** What the detector says of each call; `changes` is how often files have changed by then. */
async function actions(steps: [call: ToolCallBlock, result: string, changes?: number][]): Promise<string[]> {
  const detector = new LoopDetector();
  const seen: string[] = [];
  for (const [toolCall, result, changes] of steps) {
    seen.push((await detector.observe(toolCall, result, async () => changes)).action);
  }
  return seen;
}

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

describe("LoopDetector", () => {
  test("warns the model at the third and stops at the sixth identical call in a row", async () => {
    const steps = times(6, (): [ToolCallBlock, string] => [call({ command: "ls" }), "a"]);
    expect(await actions(steps)).toEqual(["none", "none", "warn", "warn", "warn", "stop"]);
  });

  test("treats arguments in another order as the same", async () => {
    const steps: [ToolCallBlock, string][] = [
      [call({ a: { x: 1, y: 2 }, b: 2 }), "same"],
      [call({ b: 2, a: { y: 2, x: 1 } }), "same"],
      [call({ a: { x: 1, y: 2 }, b: 2 }), "same"],
    ];
    expect((await actions(steps)).at(-1)).toBe("warn");
  });

  test.each([
    ["a call whose result changes", times(50, (index) => [call({ id: 1 }), `${index} %`])],
    [
      "alternating calls",
      times(50, (index) => [call({ command: index % 2 ? "bun test" : "sed -i s/1/2/ a" }), "same"]),
    ],
    [
      "a new edit each time and the same failing test",
      times(20, (round) => [
        [call({ command: `sed -i s/${round}/x/ a` }), ""],
        [call({ command: "bun test" }), "1 failed"],
      ]).flat(),
    ],
    ["the same command that changes files each time", times(50, (index) => [call({}), "done", index])],
    ["the same call beside changes made by others", times(50, (index) => [call({}), "no", index])],
  ] as [string, [ToolCallBlock, string, number?][]][])("lets %s pass", async (_, steps) => {
    expect(new Set(await actions(steps))).toEqual(new Set(["none"]));
  });

  test("restarts the count once files have changed", async () => {
    const steps = times(9, (index): [ToolCallBlock, string, number] => [call({}), "no", index < 4 ? 0 : 1]);
    expect(await actions(steps)).toEqual([
      ...["none", "none", "warn", "warn"],
      ...["none", "warn", "warn", "warn", "stop"],
    ]);
  });

  test("restarts the count after reset()", async () => {
    const detector = new LoopDetector();
    for (let round = 0; round < 5; round++) await detector.observe(call({}), "a");
    detector.reset();
    expect(await detector.observe(call({}), "a")).toEqual({ action: "none", repeats: 1 });
  });
});
