import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { formatNumber, formatRows } from "../../../src/tui/commands/types.ts";
import { nameForPeople } from "../../../src/tui/keys/keymap.ts";
import { createPickerDialog } from "../../../src/tui/pickers/picker.ts";
import { createTemporaryProject, type TemporaryProject } from "../../support/temporary-project.ts";
import { TypedCommands, writeScript } from "../../support/typed-commands.ts";

describe("rows of a table", () => {
  const rows = [
    ["a", "1", "short"],
    ["漢字", "1,000", "a longer text that wraps"],
  ];

  test("have aligned columns, counting wide characters", () => {
    expect(formatRows(rows, { right: [1] })).toBe(
      "  a         1  short\n  漢字  1,000  a longer text that wraps",
    );
    expect(formatRows([])).toBe("");
  });

  test("continue below their last column if it is wide enough, otherwise on a separate line", () => {
    expect(formatRows(rows, { columns: 36 }).split("\n")).toEqual([
      "  a     1      short",
      "  漢字  1,000  a longer text that",
      "               wraps",
    ]);
    expect(formatRows(rows, { columns: 24 }).split("\n")).toEqual([
      "  a     1      short",
      "  漢字  1,000",
      "      a longer text that",
      "      wraps",
    ]);
  });

  test("numbers are grouped by thousands", () => {
    expect([0, 999, 1_000, 1_234_567].map(formatNumber)).toEqual(["0", "999", "1,000", "1,234,567"]);
  });
});

test("keys are shown as people write them", () => {
  const names = ["ctrl+r", "escape", "pageUp", "shift+tab", "alt+up", "ctrl+-", "ctrl++", "y"];
  expect(names.map(nameForPeople)).toEqual([
    ...["Ctrl+R", "Esc", "PgUp", "Shift+Tab", "Alt+↑", "Ctrl+-", "Ctrl++", "y"],
  ]);
});

describe("on a screen", () => {
  let place: TemporaryProject;
  let typed: TypedCommands;

  beforeEach(async () => {
    place = createTemporaryProject();
    writeScript(place, "one");
    typed = await new TypedCommands(place).open();
    await typed.say("first");
    typed.take();
  });

  afterEach(async () => {
    await typed.close();
    place.remove();
  });

  test.each([80, 40, 20])("of %d columns tables respect the width", async (columns) => {
    typed.columns = columns;
    for (const command of ["/help", "/keys", "/status", "/context", "/cost"]) await typed.run(command);
    // Sentences are wrapped where they are shown; rows begin with two spaces and a name.
    const rows = typed
      .take("output")
      .flatMap((text) => text.split("\n"))
      .filter((line) => /^ {2}\S/.test(line) && !/[.;·]/.test(line));
    const wide = rows.filter((line) => Bun.stringWidth(line) > Math.max(columns, 38));
    expect(wide).toEqual([]);
    expect(rows.length).toBeGreaterThan(40);
  });

  test("a list never covers a question that a run waits for", async () => {
    const dialog = createPickerDialog({ name: "test", title: "Things", items: [] });
    const question = {
      type: "approval" as const,
      content: [{ look: "subject" as const, text: "make" }],
      hasAlways: false,
      stored: [],
      scroll: 0,
      wasEndSeen: true,
      isEditable: true,
      guardedUntil: 0,
    };
    typed.change((view) => ({ ...view, dialog: question }));
    typed.context.open({ dialog, choose() {} });
    expect(typed.view.dialog).toBe(question);
    expect(typed.take()).toEqual(["error: Things is available after you answer the question."]);
  });
});
