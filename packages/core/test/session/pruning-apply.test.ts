import { describe, expect, test } from "bun:test";
import { buildSessionContext } from "../../src/session/context-builder.ts";
import { trimOutput } from "../../src/session/pruned-results.ts";
import type { PruneEntry } from "../../src/session/types.ts";
import type { ToolResultMessage } from "../../src/types.ts";
import { inLine, prune } from "../support/context-entries.ts";
import { assistant, call, image, result, text } from "../support/messages.ts";
import { entry } from "../support/session-files.ts";

const CLEARED =
  '[Tool output cleared — content was processed in earlier turns. It was the result of read {"file_path":"a.ts"}: ' +
  '24000 characters. To see it again, call recall with {"entry":"r"} or repeat the call.]';
const WAY_BACK = 'result of read {"file_path":"a.ts"}; to see it whole, call recall with {"entry":"r"}';
const OUTPUT = Array.from({ length: 24_000 }, (_, index) => String(index % 10)).join("");
const head = OUTPUT.slice(0, 1500);
const tail = OUTPUT.slice(-1500);

/** A turn with one result, and what prune entries say of it. */
function pruned(message: ToolResultMessage, ...fields: Partial<PruneEntry>[]) {
  return inLine(
    entry("u", null, "go"),
    entry("a", null, assistant([call("r", "read", { file_path: "a.ts" })])),
    entry("r", null, message),
    entry("e", null, assistant([text("ok")])),
    ...fields.map((each, index) => prune(`p${index}`, null, each)),
  );
}

/** The result as the model sees it. */
function shown(message: ToolResultMessage, ...fields: Partial<PruneEntry>[]) {
  return buildSessionContext(pruned(message, ...fields)).messages[2];
}

describe("a pruned result", () => {
  test("that was cleared is a placeholder", () => {
    const failed = result("r", OUTPUT, { isError: true });
    expect(shown(failed, { cleared: ["r"] })).toEqual({ ...failed, output: CLEARED });
  });

  test("that was trimmed is its head, its tail, and a line between them with true numbers", () => {
    const output = `${head}\n--- trimmed (kept 1500 head + 1500 tail of 24000 chars) --- ${WAY_BACK}\n${tail}`;
    expect(shown(result("r", OUTPUT), { trimmed: ["r"] })).toEqual(result("r", output));
    expect(shown(result("r", OUTPUT), { trimmed: ["r"], trimHead: 3, trimTail: 0 })).toEqual(
      result("r", "012\n--- trimmed (kept 3 head + 0 tail of 24000 chars) --- whole: recall r\n"),
    );
  });

  test("that was trimmed and then cleared, or both at once, is cleared, and stays so", () => {
    const both = { cleared: ["r"], trimmed: ["r"] };
    const output = result("r", OUTPUT);
    expect(shown(output, { trimmed: ["r"] }, { cleared: ["r"] })).toEqual(result("r", CLEARED));
    expect(shown(output, both)).toEqual(result("r", CLEARED));
    expect(shown(output, { cleared: ["r"] }, { trimmed: ["r"] })).toEqual(result("r", CLEARED));
  });

  test("with images is untouched", () => {
    const message = result("r", OUTPUT, { images: [image()] });
    expect(shown(message, { cleared: ["r"] }, { trimmed: ["r"] })).toBe(message);
  });

  test("that is too short to be trimmed is untouched", () => {
    const message = result("r", OUTPUT.slice(0, 3050));
    expect(shown(message, { trimmed: ["r"] })).toBe(message);
  });

  test("is the same object each time", () => {
    const entries = pruned(result("r", OUTPUT), { trimmed: ["r"] });
    const [first, second] = [buildSessionContext(entries), buildSessionContext(entries)];
    expect(first.messages.map((message, index) => message === second.messages[index])).toEqual(
      first.messages.map(() => true),
    );
  });

  test("is whole on a branch from before the pruning", () => {
    const entries = pruned(result("r", OUTPUT), { cleared: ["r"] });
    expect(buildSessionContext(entries, "e").messages[2]).toEqual(result("r", OUTPUT));
  });
});

test("what users and models said is never pruned, even when a prune entry names it", () => {
  const entries = pruned(result("r", OUTPUT), { cleared: ["u", "a", "e", "nowhere", "p0"], trimmed: ["u"] });
  expect(buildSessionContext(entries)).toEqual(buildSessionContext(entries, "e"));
});

const prunable = (output: string) => ({ entryId: "r", message: result("r", output), call: undefined });

describe("a trimmed output", () => {
  test("tears no character in two, and says what it really kept", () => {
    const output = `ab${"🎉".repeat(1000)}`;
    for (const [size, kept] of [
      [10, 10],
      [11, 10],
    ] as const) {
      const trimmed = trimOutput(prunable(output), { head: size, tail: size }) ?? "";
      expect(trimmed.isWellFormed()).toBe(true);
      expect(trimmed).toContain(`kept ${kept} head + ${kept} tail of 2002 chars`);
    }
  });

  test("keeps halves of characters that stood alone before", () => {
    const output = `\ud83d${"x".repeat(500)}\udf89`;
    const trimmed = trimOutput(prunable(output), { head: 1, tail: 1 });
    expect(trimmed).toStartWith("\ud83d\n--- trimmed (kept 1 head + 1 tail of 502 chars) ---");
    expect(trimmed).toEndWith("\n\udf89");
  });

  test("that would not be shorter is none", () => {
    expect(trimOutput(prunable("x".repeat(100)), { head: 50, tail: 50 })).toBeUndefined();
    expect(trimOutput(prunable("x".repeat(100)), { head: 25, tail: 25 })).toBeUndefined();
    expect(trimOutput(prunable(""), { head: 0, tail: 0 })).toBeUndefined();
  });
});
