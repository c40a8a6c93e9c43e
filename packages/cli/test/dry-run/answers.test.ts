import { describe, expect, test } from "bun:test";
import type { ApprovalRequest } from "@diligent/core";
import type { AskedVerdict } from "@diligent/core/harness";
import { readInputLine } from "../../src/line-prompt/input.ts";
import { formatHint, formatQuestion, parseAnswer } from "../../src/line-prompt/questions.ts";
import { toApprovalDialog } from "../../src/tui/approval/dialog.ts";
import { approvalLines } from "../../src/tui/approval/view.ts";
import { createKeymap, findConflicts } from "../../src/tui/keys/keymap.ts";
import { applyKey } from "../../src/tui/keys-to-effects.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { createView, type View } from "../../src/tui/view.ts";

const keymap = createKeymap();
const theme = createTheme({ color: false });

const COMMAND: ApprovalRequest = {
  permission: "execute",
  toolName: "bash",
  description: "",
  details: { command: "make" },
};
const TRIABLE: AskedVerdict = { action: "ask", gate: "shell_command", reason: "why", mayTry: true };

const TRIED: ApprovalRequest = {
  permission: "write",
  toolName: "bash",
  description: "",
  details: {
    tried: "1 changed",
    line: "make",
    files: [{ path: "/app/a\u202e" }],
    lines: ['M "a\\u202e"'],
    diff: "-old\n+new\u001b[2J\n",
  },
};
const APPLY: AskedVerdict = { action: "ask", gate: "try", reason: "1 changed" };

function open(request: ApprovalRequest, verdict: AskedVerdict, rows = 24): View {
  const dialog = toApprovalDialog(request, verdict, { rows, columns: 100, keymap });
  return { ...createView({ cwd: "/app" }), dialog };
}

function press(view: View, name: string, rows = 24) {
  const data = name.length > 1 ? "\x1b" : name;
  return applyKey(view, { name, data }, { rows, columns: 100, keymap, isPromptEmpty: true, now: 0 });
}

function drawn({ dialog }: View, rows = 24): string[] {
  if (dialog?.type !== "approval") return [];
  return approvalLines(dialog, { rows, width: 100, theme, keymap });
}

describe("a question about a command on the screen", () => {
  test("offers to try it where that is possible, with the key t", () => {
    const view = open(COMMAND, TRIABLE);
    expect(drawn(view).at(-1)).toBe("y yes · t try first · n no · m no, with a message · e edit");
    expect(press(view, "t").effects).toEqual([{ type: "answer", answer: { response: "once", tries: true } }]);
  });

  test("does not take t as an answer where it cannot be tried", () => {
    const view = open(COMMAND, { ...TRIABLE, mayTry: undefined });
    expect(drawn(view).at(-1)).not.toContain("try");
    expect(press(view, "t").effects).toEqual([]);
  });
});

describe("the question about the changes of a command that was tried", () => {
  test("shows them with control characters escaped, and its two answers", () => {
    expect(drawn(open(TRIED, APPLY))).toEqual([
      "? Apply what the command would change (1 changed)?",
      "│ make",
      '│ M "a\\u202e"',
      "│ -old",
      "│ +new\\x1b[2J",
      "a apply · Esc drop",
    ]);
  });

  test("applies with a, drops with Escape without ending the turn, and ignores other answers", () => {
    const view = open(TRIED, APPLY);
    expect(press(view, "a").effects).toEqual([{ type: "answer", answer: { response: "once" } }]);
    const dropped = { response: "reject" as const, message: "The user dropped the changes." };
    expect(press(view, "escape").effects).toEqual([{ type: "answer", answer: dropped }]);
    for (const key of ["y", "p", "t", "e", "m"]) expect(press(view, key).effects).toEqual([]);
  });

  test("is not answered with a before its end was on the screen", () => {
    const view = open(TRIED, APPLY, 7);
    expect(drawn(view, 7).at(-1)).toContain("to its end");
    const { view: after, effects } = press(view, "a", 7);
    expect(effects).toEqual([]);
    expect(after.hint).toContain("Scroll to its end first");
  });

  test("leaves the key a to other questions", () => {
    expect(findConflicts(new Map([["approval.session", ["a", "s"]]]))).toEqual([]);
  });
});

describe("the line prompt", () => {
  test("takes t as an answer where a command can be tried", () => {
    expect(formatQuestion(COMMAND, TRIABLE)).toEndWith("Allow it? y (once) / t (try first) / e (edit) / n: ");
    expect(parseAnswer("t", TRIABLE)).toEqual({ response: "once", tries: true });
    expect(parseAnswer("t", { ...TRIABLE, mayTry: undefined })).toBeUndefined();
    expect(formatHint(COMMAND, TRIABLE)).toBe("Please answer y, t, e or n.");
  });

  test("asks whether changes are applied, and drops them by default", () => {
    const question = formatQuestion(TRIED, APPLY);
    expect(question).toContain("    -old\n    +new\\x1b[2J\n");
    expect(question).toEndWith("Apply it? a (apply) / n (drop): ");
    expect(parseAnswer("a", APPLY)).toEqual({ response: "once" });
    const dropped = { response: "reject" as const, message: "The user dropped the changes." };
    expect(["", "n", "drop"].map((line) => parseAnswer(line, APPLY))).toEqual(Array(3).fill(dropped));
    expect(parseAnswer("y", APPLY)).toBeUndefined();
  });

  test("reads /try with a command as a command to be tried, and without one as a slash command", () => {
    const line = { command: "rm -r x", isSharedWithModel: false, isTried: true as const };
    expect(readInputLine("/try rm -r x")).toEqual({ kind: "shell", line });
    expect(readInputLine("/try")).toEqual({ kind: "command", line: "/try" });
    expect(readInputLine("//try x")).toEqual({ kind: "prompt", text: "/try x" });
  });
});
