import { describe, expect, test } from "bun:test";
import type { ApprovalRequest, ApprovalVerdict } from "@diligent/core";
import { formatHint, formatQuestion, parseAnswer } from "../src/line-prompt/question.ts";

const REQUEST: ApprovalRequest = {
  permission: "execute",
  toolName: "bash",
  description: "bash: npm test",
  details: { command: "npm test" },
};
const GRANTED: ApprovalVerdict = {
  action: "ask",
  gate: "shell_command",
  reason: "npm may do more than read",
  grants: [{ kind: "command", directory: "/app", words: ["npm", "te\u202est"] }],
};
const PLAIN: ApprovalVerdict = { action: "ask", gate: "unknown_target", reason: "it does not say" };

test("the question holds the gate, the command, and what each answer means", () => {
  expect(formatQuestion(REQUEST, GRANTED)).toBe(
    [
      "bash needs your consent: npm may do more than read [shell_command]",
      "",
      "    npm test",
      "",
      "  a  always in this session, p  always in this project, which allows:",
      "       exactly `npm 'te\\u{202e}st'` in /app",
      "  n MESSAGE  no, with a message to the model",
      "Allow it? y (once) / a (always) / p (always, kept) / n: ",
    ].join("\n"),
  );
});

test("a change is shown with the path it would be made to", () => {
  const details = { path: "/app/CLAUDE.md", diff: "-a\n+b" };
  const request: ApprovalRequest = { permission: "write", toolName: "edit", description: "", details };
  expect(formatQuestion(request, PLAIN)).toContain("\n    write /app/CLAUDE.md\n    \n    -a\n    +b\n");
});

test("always is offered and taken only where there is something to allow", () => {
  expect(formatQuestion(REQUEST, PLAIN)).toEndWith("Allow it? y (once) / n: ");
  expect([formatHint(PLAIN), formatHint(GRANTED)]).toEqual([
    "Please answer y or n.",
    "Please answer y, a, p or n.",
  ]);
  expect([parseAnswer("a", PLAIN), parseAnswer("p", PLAIN)]).toEqual([undefined, undefined]);
});

describe("an answer", () => {
  const cases: [string, unknown][] = [
    ["y", { response: "once" }],
    [" YES ", { response: "once" }],
    ["a", { response: "always", scope: "session" }],
    ["Always", { response: "always", scope: "session" }],
    ["p", { response: "always", scope: "project" }],
    ["n", { response: "reject", message: expect.any(String), endTurn: true }],
    ["no", { response: "reject", message: expect.any(String), endTurn: true }],
    ["n  use git mv ", { response: "reject", message: "The user said no: use git mv" }],
    ["", undefined],
    ["y but not now", undefined],
    ["a b", undefined],
    ["yy", undefined],
    ["nothing", undefined],
  ];
  for (const [line, expected] of cases) {
    test(JSON.stringify(line), () => expect<unknown>(parseAnswer(line, GRANTED)).toEqual(expected));
  }
});
