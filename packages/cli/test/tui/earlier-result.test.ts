import { describe, expect, test } from "bun:test";
import { readEarlierResult } from "../../src/tui/transcript.ts";

type Result = Parameters<typeof readEarlierResult>[0];

const failed = (output: string, more: Partial<Result> = {}): Result => {
  return { toolName: "bash", output, isError: true, ...more };
};
const done = (toolName: string, output: string): Result => ({ toolName, output, isError: false });

describe("a result that records its outcome", () => {
  test.each([
    ["Refused: connection", "failed"],
    ["Not run: 3 tests", "failed"],
    ["anything", "rejected"],
  ] as const)("is shown with that outcome: %s", (output, outcome) => {
    expect(readEarlierResult(failed(output, { outcome }))).toEqual({ outcome, metadata: {} });
  });

  test("is not searched for an exit code", () => {
    expect(readEarlierResult(failed("[exit code 2]", { outcome: "failed" }))).toEqual({
      outcome: "failed",
      metadata: {},
    });
    const metadata = { exitCode: 3 };
    expect(readEarlierResult(failed("[exit code 2]", { outcome: "failed", metadata })).metadata).toEqual(
      metadata,
    );
    const written = { ...done("write", "Created a."), metadata: { added: 1 } };
    expect(readEarlierResult(written)).toEqual({ metadata: { added: 1 } });
  });
});

test("a file that a session names is not read as the output of its call", () => {
  const metadata = { count: 1, outputPath: "/dev/zero" };
  expect(readEarlierResult({ ...done("grep", "a"), metadata })).toEqual({ metadata: { count: 1 } });
});

describe("a result of an earlier version shows by its text", () => {
  test.each([
    ["The user said no: not now", "rejected"],
    ["The user rejected this call.", "rejected"],
    ["The user stopped the run.", "rejected"],
    ["Refused: it is outside the project [outside].", "rejected"],
    ["Not run: the user ended the turn when another call was rejected.", "skipped"],
    ["Interrupted: the run was stopped before this call was started. It was not run.", "skipped"],
    ["Interrupted: the call did not finish, and so on", "interrupted"],
    ["There is no file a.", "failed"],
  ] as const)("its outcome: %s", (output, outcome) => {
    expect(readEarlierResult(failed(output))).toEqual({ outcome, metadata: {} });
  });

  test("the exit code of a failed command", () => {
    const told = { outcome: "failed" as const, metadata: { exitCode: 2 } };
    expect(readEarlierResult(failed("no\n[exit code 2]"))).toEqual(told);
    expect(readEarlierResult(failed("no\n[exit code 2]", { toolName: "other" })).metadata).toEqual({});
    expect(readEarlierResult(done("bash", "[exit code 2]"))).toEqual({ metadata: {} });
  });

  test("which file was written", () => {
    expect(readEarlierResult(done("write", "Created /a (1 line).")).metadata).toEqual({ created: true });
    const same = "a already has exactly this content; nothing was written.";
    expect(readEarlierResult(done("write", same)).metadata).toEqual({ unchanged: true });
    expect(readEarlierResult(done("write", "Overwrote /a.")).metadata).toEqual({});
    expect(readEarlierResult(done("edit", "Edited /a (line 12).")).metadata).toEqual({ matchLine: 12 });
    const many = "Edited /a (3 replacements, the first in line 4).";
    expect(readEarlierResult(done("edit", many)).metadata).toEqual({ matchLine: 4 });
  });
});
