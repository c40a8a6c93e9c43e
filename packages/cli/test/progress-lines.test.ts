import { expect, test } from "bun:test";
import type { AgentEvent } from "@diligent/core";
import { describeProgress } from "../src/print/summary.ts";

const CALL = { itemId: "tool-1", toolCallId: "call_1" };

function started(toolName: string, input: unknown): string | undefined {
  return describeProgress({ type: "tool_start", ...CALL, toolName, input });
}

test("a call is named by its most important argument", () => {
  expect([
    started("bash", { command: "npm test", description: "x" }),
    started("read", { file_path: "/a/b.ts", offset: 3 }),
    started("grep", { pattern: "TODO", path: "src" }),
    started("ls", {}),
    started("other", { depth: 2 }),
    started("broken", '{"command": "rm'),
  ]).toEqual([
    "bash: npm test",
    "read: /a/b.ts",
    "grep: TODO",
    "ls",
    'other: {"depth":2}',
    'broken: {"command": "rm',
  ]);
});

test("a long or multi-line command takes one line", () => {
  const line = started("bash", { command: `for i in 1 2\ndo\n\techo ${"x".repeat(500)}\ndone` }) ?? "";
  expect(line).toStartWith("bash: for i in 1 2 do echo xxx");
  expect(line).toEndWith("…");
  expect(line.length).toBe(100);
});

test("a failed call is shown with its error, a successful one not at all", () => {
  const end = { type: "tool_end", ...CALL, toolName: "bash", output: "exit code 1\nmore" } as const;
  expect(describeProgress({ ...end, isError: true })).toBe("bash failed: exit code 1 more");
  expect(describeProgress({ ...end, isError: false })).toBeUndefined();
});

test("what formatters and language servers say about an edit is shown below it", () => {
  const report = `Formatted by prettier: 1 line changed\n${Array.from({ length: 30 }, (_, index) => `a.ts:${index}:1: \x1b[31merror`).join("\n")}`;
  const end = { type: "tool_end", ...CALL, toolName: "edit", output: "Edited", isError: false } as const;
  const lines = describeProgress({ ...end, metadata: { report } })?.split("\n") ?? [];
  expect(lines.slice(0, 2)).toEqual([
    "  Formatted by prettier: 1 line changed",
    "  a.ts:0:1: \\x1b[31merror",
  ]);
  expect(lines.slice(23)).toEqual(["  a.ts:22:1: \\x1b[31merror", "  7 more lines"]);
});

test("notices, including those of retries, and errors that do not end the run are shown", () => {
  const events: AgentEvent[] = [
    { type: "notice", level: "info", code: "a", message: "for information" },
    { type: "notice", level: "warning", code: "a", message: "careful" },
    { type: "status_change", status: "retry", retry: { attempt: 2, delayMs: 1234 } },
    { type: "status_change", status: "retry", retry: { attempt: 5, delayMs: 30_000 } },
    { type: "status_change", status: "busy" },
    { type: "error", error: { name: "E", message: "small" }, fatal: false },
    { type: "error", error: { name: "E", message: "large" }, fatal: true },
    { type: "agent_start" },
  ];
  expect(events.map(describeProgress)).toEqual([
    "for information",
    "warning: careful",
    undefined,
    undefined,
    undefined,
    "error: small",
    undefined,
    undefined,
  ]);
});

test("saved knowledge is shown in full, on one line", () => {
  const content = `Two\nlines \x1b[31m${"x".repeat(1_950)}`;
  expect(describeProgress({ type: "knowledge_saved", knowledgeId: "1", content })).toBe(
    `💡 Knowledge saved: Two lines \\x1b[31m${"x".repeat(1_950)}`,
  );
});

test("a command that the user edited is shown when it runs, but not its output meanwhile", () => {
  const update = { type: "tool_update", ...CALL, toolName: "bash", partialResult: "x" } as const;
  expect([
    describeProgress({ ...update, input: { command: "rm -i a\nls" } }),
    describeProgress(update),
  ]).toEqual(["edited by you: rm -i a ls", undefined]);
});
