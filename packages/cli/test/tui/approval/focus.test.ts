import { describe, expect, test } from "bun:test";
import type { ApprovalRequest, Grant } from "@diligent/core";
import type { AskedVerdict } from "@diligent/core/harness";
import { toApprovalDialog } from "../../../src/tui/approval/dialog.ts";
import { GUARD_MS, leavePasteOut } from "../../../src/tui/approval/keys.ts";
import { approvalLines } from "../../../src/tui/approval/view.ts";
import { createKeymap } from "../../../src/tui/keys/keymap.ts";
import { applyKey } from "../../../src/tui/keys-to-effects.ts";
import { createTheme } from "../../../src/tui/theme.ts";
import { createView, type View } from "../../../src/tui/view.ts";

const ROOM = { rows: 24, columns: 80, keymap: createKeymap() };
const REQUEST: ApprovalRequest = {
  permission: "execute",
  toolName: "bash",
  description: "",
  details: { command: "make" },
};
const MAKE: Grant = { kind: "command", words: ["make"], directory: "/app" };
const DATA: Record<string, string> = {
  enter: "\r",
  tab: "\t",
  escape: "\x1b",
  down: "\x1b[B",
  backspace: "\x7f",
  space: " ",
};

interface ScreenOptions {
  draft?: string;
  grants?: readonly Grant[];
  choices?: AskedVerdict["choices"];
}

/** A question on a screen with a clock, and the prompt that keys may go into instead. */
class Screen {
  view: View;
  draft: string;
  now = 10_000;
  readonly answers: object[] = [];

  constructor({ draft = "", grants = [MAKE], choices }: ScreenOptions = {}) {
    const verdict = {
      action: "ask" as const,
      gate: "shell_command" as const,
      reason: "why",
      grants,
      choices,
    };
    const dialog = toApprovalDialog(REQUEST, verdict, ROOM, { isElsewhere: draft !== "" });
    this.draft = draft;
    this.view = { ...createView({ cwd: "/app" }), dialog: { ...dialog, guardedUntil: this.now + GUARD_MS } };
  }

  /** Presses keys, one every `everyMs`. */
  press(keys: readonly string[], everyMs = 2 * GUARD_MS): this {
    for (const name of keys) {
      this.now += everyMs;
      const context = { ...ROOM, isPromptEmpty: this.draft === "", now: this.now };
      const { view, effects } = applyKey(this.view, { name, data: DATA[name] ?? name }, context);
      this.view = view;
      for (const effect of effects) {
        if (effect.type === "edit") this.draft += effect.data;
        else this.answers.push(effect);
      }
    }
    return this;
  }

  get shown(): string[] {
    const { dialog } = this.view;
    if (dialog?.type !== "approval") return [];
    const look = { ...ROOM, width: 80, theme: createTheme({ color: false }), editor: [`> ${this.draft}`] };
    return approvalLines(dialog, look);
  }
}

const ONCE = { type: "answer", answer: { response: "once" } };
const PROJECT = { type: "answer", answer: { response: "always", scope: "project" } };

describe("a question that appears while the user is typing", () => {
  test("takes no letter as an answer, however long the pause, and shows where letters go", () => {
    const screen = new Screen({ draft: "hel" });
    screen.press(["p", "y", "n", "e", "enter", "a", "space"], 10_000);
    expect([screen.draft, screen.answers]).toEqual(["helpyne\ra ", []]);
    screen.draft = "help";
    expect(screen.shown).toEqual([
      "? Allow bash? Reason: why",
      "│ make",
      "“Always” will allow:",
      "› exactly `make` in /app",
      "You were typing: press Tab or ↓ to answer this · Esc no",
      "> help",
    ]);
  });

  test.each(["tab", "down"])("can be answered after %s, and the prompt stays visible", (key) => {
    const screen = new Screen({ draft: "hel" }).press([key]);
    expect(screen.shown.slice(-3)).toEqual([
      "y yes · a always in this session · p always in this project · n no · m no, with",
      "a message · e edit",
      "> hel",
    ]);
    expect([screen.press(["y"]).answers, screen.draft]).toEqual([[ONCE], "hel"]);
  });

  test("is not answered by a key directly after Tab, which was meant for the prompt", () => {
    const screen = new Screen({ draft: "src/a" }).press(["tab", "y", "p", "y"], 50);
    expect([screen.draft, screen.answers]).toEqual(["src/aypy", []]);
    expect(screen.shown.at(-2)).toStartWith("You were typing");
  });

  test("can be denied at once by the key that types nothing", () => {
    expect(new Screen({ draft: "hel" }).press(["escape"], 1).answers).toMatchObject([
      { type: "answer", answer: { response: "reject", endTurn: true } },
    ]);
  });

  test("fits a small screen together with a row of the prompt", () => {
    const room = { ...ROOM, rows: 9, columns: 40 };
    const request = { ...REQUEST, details: { command: "a\n".repeat(30) } };
    const verdict = { action: "ask" as const, gate: "shell_command" as const, reason: "why" };
    for (const isUnfocused of [true, false]) {
      const dialog = { ...toApprovalDialog(request, verdict, room, { isElsewhere: true }), isUnfocused };
      const theme = createTheme({ color: false });
      expect(approvalLines(dialog, { ...room, width: 40, theme, editor: ["> x"] }).length).toBeLessThan(8);
    }
  });
});

describe("a text whose typing starts as the question appears", () => {
  test("goes into the prompt completely, including the first letter", () => {
    const screen = new Screen().press(
      [..."yes please"].map((each) => (each === " " ? "space" : each)),
      90,
    );
    expect([screen.draft, screen.answers]).toEqual(["yes please", []]);
  });

  test("is not assumed if one key is pressed again", () => {
    expect(new Screen().press(["y", "y", "y"], 210)).toMatchObject({ draft: "", answers: [ONCE] });
  });
});

test("does not make Enter an answer", () => {
  expect(new Screen().press(["enter", "enter", "enter"])).toMatchObject({ draft: "", answers: [] });
});

describe('"always" in an approval question', () => {
  test("needs a confirmation of exactly what would be stored", () => {
    const screen = new Screen().press(["p"]);
    expect(screen.shown).toEqual([
      "? Always allow this, without asking, in this and later sessions of this project:",
      "› exactly `make` in /app",
      "y yes, always in this project · n back",
    ]);
    expect(screen.answers).toEqual([]);
    expect(screen.press(["y"]).answers).toEqual([PROJECT]);
  });

  test("shows the whole line if that is what is stored", () => {
    const text = "make\nrm -rf \u202eb";
    const line: Grant = { kind: "command_line", directory: "/app", text, outside: true };
    expect(new Screen({ grants: [line] }).press(["a"]).shown.slice(1)).toEqual([
      "› outside the sandbox: exactly this command line in /app",
      "│ make",
      "│ rm -rf \\u{202e}b",
      "y yes, always in this session · n back",
    ]);
  });

  test.each(["a", "p", "n", "e", "enter", "escape", "m", "x"])("is not confirmed if %s follows", (key) => {
    const screen = new Screen().press(["p", key]);
    expect(screen.answers).toEqual([]);
    expect(screen.shown[0]).toBe("? Allow bash? Reason: why");
    expect(screen.press(["y"]).answers).toEqual([ONCE]);
  });

  test("is not a word that begins with both letters: it goes into the prompt", () => {
    const screen = new Screen().press(["p"]).press([..."ython"], 120);
    expect([screen.draft, screen.answers]).toEqual(["python", []]);
    expect(screen.shown.at(-2)).toStartWith("You were typing");
  });

  test("accepts an early confirmation when it is pressed again", () => {
    const screen = new Screen().press(["p"]).press(["y"], 100);
    expect([screen.answers, screen.view.hint]).toEqual([
      [],
      "The question just appeared: press the key again",
    ]);
    expect(screen.press(["y"]).answers).toEqual([PROJECT]);
  });

  const choices: NonNullable<AskedVerdict["choices"]> = [
    { reach: "exact", allows: ["unused"], examples: ["make", "ls; make"] },
    {
      reach: "prefix",
      allows: ["`make all …` in /app, with further words that run nothing else\u202e"],
      examples: ["make all", "make all -k"],
    },
  ];

  test("can cover other words: Tab shows what, with examples", () => {
    const screen = new Screen({ choices }).press(["a"]);
    expect(screen.shown.slice(1)).toEqual([
      "› exactly `make` in /app",
      "For example:",
      "│ make",
      "│ ls; make",
      "y yes, always in this session · Tab with other words, too · n back",
    ]);
    expect(screen.press(["tab"]).shown).toEqual([
      "? Always allow this, without asking, until you quit diligent:",
      "› `make all …` in /app, with further words that run nothing else\\u{202e}",
      "For example:",
      "│ make all",
      "│ make all -k",
      "y yes, always in this session · Tab only this · n back",
    ]);
    const answer = { response: "always", scope: "session", reach: "prefix" };
    expect(screen.press(["y"]).answers).toEqual([{ type: "answer", answer }]);
  });

  test("covers exactly what was asked again after a second Tab, and nothing without a confirmation", () => {
    const screen = new Screen({ choices }).press(["p", "tab", "tab"]);
    expect(screen.answers).toEqual([]);
    expect(screen.press(["y"]).answers).toEqual([PROJECT]);
  });

  test("takes no confirmation directly after Tab, which was meant for the other choice", () => {
    const screen = new Screen({ choices }).press(["p", "tab"]).press(["y"], 100);
    expect(screen.answers).toEqual([]);
  });

  test("cannot be confirmed before all of what is stored was seen", () => {
    const text = "true\n".repeat(60);
    const screen = new Screen({ grants: [{ kind: "command_line", directory: "/app", text }] });
    expect(screen.press(["p", "y"])).toMatchObject({ answers: [] });
    expect(screen.view.hint).toBe("Scroll to its end first (↓ or Space)");
    expect(screen.press(["space", "space", "space", "space", "y"])).toMatchObject({ answers: [PROJECT] });
  });
});

test("an unmarked paste answers nothing, nor does its last letter alone", () => {
  const screen = new Screen();
  screen.now += 2 * GUARD_MS;
  screen.view = leavePasteOut(screen.view, "yyp", screen.now);
  expect(screen.view.hint).toBe("Pasted text was ignored; press a key to answer");
  expect(screen.press(["y"], 50)).toMatchObject({ answers: [] });
});
