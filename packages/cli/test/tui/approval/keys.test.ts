import { describe, expect, test } from "bun:test";
import { toApprovalDialog } from "../../../src/tui/approval/dialog.ts";
import { approvalLines } from "../../../src/tui/approval/view.ts";
import { type ActionId, createKeymap } from "../../../src/tui/keys/keymap.ts";
import { applyKey } from "../../../src/tui/keys-to-effects.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import { createView, type View } from "../../../src/tui/view.ts";

const theme = createTheme({ color: false });

/** A question on a screen, with keys that the user has changed. */
class Question {
  view: View;
  private readonly room;

  constructor(bindings: Partial<Record<ActionId, readonly string[]>>, command = "make", rows = 24) {
    this.room = { rows, columns: 80, keymap: createKeymap(bindings) };
    const request = {
      permission: "execute" as const,
      toolName: "bash",
      description: "",
      details: { command },
    };
    const grants = [{ kind: "command" as const, words: ["make"], directory: "/app" }];
    const verdict = { action: "ask" as const, gate: "shell_command" as const, reason: "why", grants };
    this.view = { ...createView({ cwd: "/app" }), dialog: toApprovalDialog(request, verdict, this.room) };
  }

  /** The line that names the keys. */
  get keys(): string | undefined {
    const { dialog } = this.view;
    if (dialog?.type !== "approval") return undefined;
    // On one line, however many answers there are.
    return approvalLines(dialog, { ...this.room, width: 120, theme }).at(-1);
  }

  press(...names: string[]): readonly object[] {
    return names.flatMap((name) => {
      const data = name === "space" ? " " : name.length > 1 ? "\x1b" : name;
      const { view, effects } = applyKey(
        this.view,
        { name, data },
        { ...this.room, isPromptEmpty: true, now: 0 },
      );
      this.view = view;
      return effects;
    });
  }
}

const ONCE = { type: "answer", answer: { response: "once" } };
const REJECTED = { type: "answer", answer: { response: "reject", endTurn: true } };
const REST = "a always in this session · p always in this project";

describe("the answers to a question are named by their keys", () => {
  test("Ctrl+Z suspends and leaves the question and the typed text unchanged", () => {
    for (const keys of [[], ["m", "x"], ["e"]]) {
      const question = new Question({});
      question.press(...keys);
      const { dialog } = question.view;
      expect(question.press("ctrl+z")).toEqual([{ type: "suspend" }]);
      expect(question.view.dialog).toEqual(dialog);
    }
  });

  test("with the default keys", () => {
    expect(new Question({}).keys).toBe(`y yes · ${REST} · n no · m no, with a message · e edit`);
  });

  test("with the keys for yes and no exchanged", () => {
    const bindings = { "approval.once": ["n"], "approval.reject": ["y"] };
    expect(new Question(bindings).keys).toBe(`n yes · ${REST} · y no · m no, with a message · e edit`);
    expect(new Question(bindings).press("n")).toMatchObject([ONCE]);
    expect(new Question(bindings).press("y")).toMatchObject([REJECTED]);
  });

  test("as a no if a key is bound to both yes and no, and no yes is offered for it", () => {
    const one = { "approval.once": ["n"] };
    expect(new Question(one).keys).toBe(`${REST} · n no · m no, with a message · e edit`);
    expect(new Question(one).press("n")).toMatchObject([REJECTED]);
    const two = { "approval.once": ["n", "ctrl+y"] };
    expect(new Question(two).keys).toStartWith("Ctrl+Y yes · ");
  });

  test("by the key that stops everything if no key denies", () => {
    const question = new Question({ "approval.reject": [], "approval.edit": [] });
    expect(question.keys).toBe(`y yes · ${REST} · Ctrl+C no · m no, with a message`);
    expect(question.press("n")).toEqual([]);
  });

  test("including the keys that scroll to the end", () => {
    const question = new Question(
      { "list.down": ["ctrl+n"], "approval.pageDown": ["f"] },
      "a\n".repeat(40),
      12,
    );
    expect(question.keys).toBe("Ctrl+N or f to its end · n no · m no, with a message");
    question.press("space", "y");
    expect(question.view.hint).toBe("Scroll to its end first (Ctrl+N or f)");
    expect(question.press(...Array.from({ length: 20 }, () => "f"), "y")).toMatchObject([ONCE]);
  });

  test("including the keys that send a message or leave it", () => {
    const question = new Question({ "list.choose": ["ctrl+s"], "list.close": ["ctrl+q"] });
    question.press("m", "n", "o", "enter");
    expect(question.keys).toBe("Ctrl+S send · Ctrl+Q back");
    const sent = question.press("ctrl+s");
    expect(sent).toEqual([
      { type: "answer", answer: { response: "reject", message: "The user denied this: no" } },
    ]);
    question.view = new Question({}).view;
    question.press("m", "x", "ctrl+q");
    expect(question.keys).toStartWith("y yes");
  });
});
