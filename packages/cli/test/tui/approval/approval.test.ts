import { describe, expect, test } from "bun:test";
import type { ApprovalRequest, ApprovalVerdict } from "@diligent/core";
import { BUSY_MS } from "../../../../core/test/support/busy-machine.ts";
import { toApprovalDialog } from "../../../src/tui/approval/dialog.ts";
import { GUARD_MS } from "../../../src/tui/approval/keys.ts";
import { approvalLines } from "../../../src/tui/approval/view.ts";
import type { KeyOutcome } from "../../../src/tui/effects.ts";
import { createKeymap } from "../../../src/tui/keys/keymap.ts";
import { applyKey } from "../../../src/tui/keys-to-effects.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import { type ApprovalDialog, createView, type View } from "../../../src/tui/view.ts";

const theme = createTheme({ color: false });
const keymap = createKeymap();
const VERDICT: ApprovalVerdict = { action: "ask", gate: "shell_command", reason: "it may do more than read" };

interface Place {
  rows: number;
  columns: number;
}

const LARGE: Place = { rows: 24, columns: 80 };

function bash(command: string): ApprovalRequest {
  return { permission: "execute", toolName: "bash", description: "", details: { command } };
}

function ask(request: ApprovalRequest, place = LARGE, verdict = VERDICT): ApprovalDialog {
  return toApprovalDialog(request, verdict, { ...place, keymap });
}

function draw(dialog: ApprovalDialog, { rows, columns }: Place): string[] {
  return approvalLines(dialog, { rows, width: columns, theme, keymap });
}

interface PressOptions extends Place {
  now?: number;
  isPromptEmpty?: boolean;
}

function press(view: View, name: string, options: PressOptions = LARGE): KeyOutcome {
  const { rows, columns, now = 0, isPromptEmpty = true } = options;
  const data = name === "space" ? " " : name === "enter" ? "\r" : name.length > 1 ? "\x1b" : name;
  return applyKey(view, { name, data }, { keymap, isPromptEmpty, now, rows, columns });
}

function viewWith(dialog: ApprovalDialog): View {
  return { ...createView({ cwd: "/app" }), dialog };
}

describe("an approval question on a small screen", () => {
  test.each([
    [20, 10],
    [20, 6],
    [40, 7],
    [12, 12],
  ])("of %i columns and %i rows shows part of the content and can be answered", (columns, rows) => {
    const dialog = { ...ask(bash("touch a\ntouch b"), { rows, columns }), hasAlways: true };
    let view = viewWith(dialog);
    expect(draw(dialog, { rows, columns }).length).toBeLessThanOrEqual(rows - 2);
    expect(draw(dialog, { rows, columns })[0]).toMatch(/^\? Allow/);
    for (let step = 0; step < 40; step++) view = press(view, "down", { rows, columns }).view;
    const shown = view.dialog?.type === "approval" ? draw(view.dialog, { rows, columns }) : [];
    expect(shown.join("\n")).toMatch(/│ touch b/);
    expect(press(view, "y", { rows, columns }).effects).toEqual([
      { type: "answer", answer: { response: "once" } },
    ]);
  });

  test.each(["y", "a", "p", "e"])(
    "without visible content accepts no %s, even if its end was seen before",
    (key) => {
      const seen = viewWith({ ...ask(bash("touch a")), hasAlways: true });
      const tiny = press(seen, key, { rows: 5, columns: 20 });
      expect([tiny.effects, tiny.view.dialog]).toMatchObject([[], { content: ask(bash("touch a")).content }]);
      expect(press(seen, key).view.dialog).not.toEqual(seen.dialog);
    },
  );
});

describe("an approval question", () => {
  test("shows spaces instead of tabs in the name of a tool", () => {
    const dialog = ask({
      permission: "execute",
      toolName: "a\tb",
      description: "",
      details: { command: "ls" },
    });
    expect(draw(dialog, LARGE)[0]).toBe("? Allow a   b? Reason: it may do more than read");
  });

  test("for a tool without a command shows all its arguments", () => {
    const details = { command: "ls", target: "prod\u202e" };
    const dialog = ask({ permission: "execute", toolName: "deploy", description: "", details });
    expect(draw(dialog, LARGE)).toEqual([
      "? Allow deploy? Reason: it may do more than read",
      "│ {",
      '│   "command": "ls",',
      '│   "target": "prod\\u{202e}"',
      "│ }",
      "y yes · n no · m no, with a message",
    ]);
    expect(dialog.isEditable).toBe(false);
  });

  test("cannot be allowed permanently if no grant is offered", () => {
    for (const key of ["a", "p"]) expect(press(viewWith(ask(bash("make"))), key).effects).toEqual([]);
  });

  test("breaks lines without losing a blank, and marks continuations", () => {
    const command = `rm -rf ${"a".repeat(29)}  /x  y`;
    const rows = draw(ask(bash(command)), { rows: 24, columns: 40 });
    expect(rows.slice(2, 4)).toEqual([`│ rm -rf ${"a".repeat(29)}  `, "┊ /x  y"]);
  });

  test("shows a tool's name and reason on one line, with nothing hidden", () => {
    const request = { ...bash("ls"), toolName: "bash\n\x1b[2J" };
    const dialog = ask(request, LARGE, { ...VERDICT, reason: "because\u200b\r\nof" });
    expect(draw(dialog, { rows: 24, columns: 120 })[0]).toBe(
      "? Allow bash\\x0a\\x1b[2J? Reason: because\\u{200b}\\r\\x0aof",
    );
  });

  test("of a megabyte is drawn and scrolled at once", () => {
    const dialog = ask(bash("echo y ".repeat(150_000)));
    const begin = performance.now();
    let view = viewWith(dialog);
    for (let count = 0; count < 100; count++) {
      view = press(view, "space").view;
      if (view.dialog?.type === "approval") draw(view.dialog, LARGE);
    }
    expect(performance.now() - begin).toBeLessThan(500 + BUSY_MS);
  });
});

describe("an approval question longer than the screen", () => {
  const command = Array.from({ length: 50 }, (_, index) => `echo ${index}`).join("\n");

  test("cannot be approved or edited before its end was shown", () => {
    const view = viewWith(ask(bash(command)));
    for (const key of ["y", "e"]) {
      const { view: after, effects } = press(view, key);
      expect([effects, after.hint]).toEqual([[], "Scroll to its end first (↓ or Space)"]);
    }
    expect(press(view, "n").effects).toHaveLength(1);
  });

  test("takes no more rows than the screen has, whatever the size", () => {
    for (const rows of [1, 3, 6, 10, 15, 24, 50])
      for (const columns of [10, 20, 40, 80, 200]) {
        const place = { rows, columns };
        const dialog = ask(bash(command), place);
        const drawn = draw(dialog, place);
        const most = Math.max(rows - 2, drawn.length - dialog.content.length);
        expect([place, drawn.length <= most || rows < 8]).toEqual([place, true]);
        expect(drawn.every((line) => Bun.stringWidth(line) <= columns)).toBe(true);
      }
  });

  test("cannot be approved on a screen without room for it", () => {
    const tiny = { rows: 5, columns: 20 };
    let view = viewWith(ask(bash("ls"), tiny));
    for (let count = 0; count < 10; count++) view = press(view, "space", tiny).view;
    expect(press(view, "y", tiny).effects).toEqual([]);
    expect(press(view, "y", LARGE).effects).toEqual([{ type: "answer", answer: { response: "once" } }]);
  });
});

describe("keys meant for something else", () => {
  const guarded = viewWith({ ...ask(bash("make")), guardedUntil: GUARD_MS });

  test("do not answer a question that has just appeared", () => {
    for (const key of ["y", "enter", "n", "m", "e", "space"])
      expect(press(guarded, key, { ...LARGE, now: 100 }).effects).toEqual([]);
    expect(press(guarded, "y", { ...LARGE, now: GUARD_MS }).effects).toHaveLength(1);
  });

  test("do not answer while a key is held down", () => {
    let view = guarded;
    for (let now = 100; now < 3 * GUARD_MS; now += 30) {
      const outcome = press(view, "enter", { ...LARGE, now });
      expect(outcome.effects).toEqual([]);
      view = outcome.view;
    }
  });

  test("count when they are pressed again, and stopping always counts", () => {
    const { view } = press(guarded, "y", { ...LARGE, now: 100 });
    const again = press(view, "y", { ...LARGE, now: 300 }).view;
    expect(press(again, "y", { ...LARGE, now: 100 + GUARD_MS }).effects).toHaveLength(1);
    for (const key of ["escape", "ctrl+c"])
      expect(press(guarded, key, { ...LARGE, now: 1 }).effects).toMatchObject([{ type: "answer" }]);
  });
});

test("the message of a denial shows its end, with nothing hidden", () => {
  const dialog: ApprovalDialog = { ...ask(bash("ls")), message: `${"word ".repeat(100)}\u202eend` };
  expect(draw(dialog, LARGE).slice(-2)).toEqual([
    expect.stringMatching(/\\u\{202e\}end▏$/),
    "Enter send · Esc back",
  ]);
});
