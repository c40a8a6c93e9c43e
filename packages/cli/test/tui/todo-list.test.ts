import { describe, expect, test } from "bun:test";
import { describeTodos } from "../../src/print/summary.ts";
import { createKeymap } from "../../src/tui/keys/keymap.ts";
import { liveLines } from "../../src/tui/live-region.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { createView, type View } from "../../src/tui/view.ts";

type Todos = View["todos"];

const todo = (content: string, status: Todos[number]["status"], activeForm?: string) => ({
  content,
  status,
  ...(activeForm && { activeForm }),
});
const WORK = [todo("Read", "completed"), todo("Fix", "in_progress", "Fixing it"), todo("Test", "pending")];

/** The lines above the prompt and the status line. */
function above(todos: Todos, change: Partial<View> = {}, { width = 40, rows = 24 } = {}): string[] {
  const view: View = { ...createView({ cwd: "/p", model: "m", cost: null }), todos, ...change };
  const style = {
    theme: createTheme({ color: false }),
    keymap: createKeymap(),
    now: 0,
    above: "none" as const,
  };
  const lines = liveLines(view, ["> "], { ...style, width, rows });
  return lines.slice(0, lines.indexOf("> "));
}

describe("the checklist above the prompt", () => {
  test("shows each item with its state, the current one by what is being done", () => {
    expect(above(WORK)).toEqual(["✓ Read", "▸ Fixing it", "○ Test"]);
  });

  test("is gone once all of it is done and the model has ended, and one line before that", () => {
    const done = [todo("Read", "completed"), todo("Fix", "completed")];
    expect(above(done)).toEqual([]);
    const [, , line] = above(done, { activity: { type: "waiting", since: 0 } });
    expect(line).toBe("2 of 2 done");
    expect(above([])).toEqual([]);
  });

  test.each([24, 12, 8])("takes at most a quarter of %i rows, around the current item", (rows) => {
    const many = Array.from({ length: 20 }, (_, index) =>
      todo(`Step ${index}`, index < 10 ? "completed" : index === 10 ? "in_progress" : "pending"),
    );
    const lines = above(many, {}, { rows });
    expect(lines.length).toBeLessThanOrEqual(rows / 4);
    expect(lines.join("\n")).toContain("Step 10");
    expect(lines.join("\n")).toContain("10 of 20 done");
  });

  test.each([40, 80, 200])("fits into %i columns, and shows no control characters of the model", (width) => {
    const long = [
      todo(`\x1b[31mred\x1b[0m\nnext \u202e ${"word ".repeat(100)}`, "in_progress"),
      todo("宽".repeat(200), "pending"),
    ];
    for (const line of above(long, {}, { width })) {
      expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
      expect(line).not.toMatch(/\p{Cc}|\u202e/u);
    }
  });
});

test("print mode shows the checklist with the state of each item", () => {
  expect(describeTodos(WORK)).toBe("todo: 1 of 3 done\n  [x] Read\n  [>] Fix\n  [ ] Test");
  expect(describeTodos([])).toBe("todo: removed");
  expect(describeTodos([todo("\x1b[31ma\nb", "pending")])).toBe("todo: 0 of 1 done\n  [ ] \\x1b[31ma b");
});
