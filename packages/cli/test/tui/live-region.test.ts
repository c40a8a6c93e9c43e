import { expect, test } from "bun:test";
import { createKeymap } from "../../src/tui/keys/keymap.ts";
import { liveLines } from "../../src/tui/live-region.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { createView, type View } from "../../src/tui/view.ts";
import { toolCall } from "../support/tool-calls.ts";

const theme = createTheme({ color: false });
const keymap = createKeymap();
const STATUS = "m · 0% context · ask · /p";

function region(change: Partial<View>, above: "none" | "call" | "other", now = 0): string[] {
  const view: View = { ...createView({ cwd: "/p", model: "m", cost: null }), ...change };
  return liveLines(view, ["> "], { width: 60, rows: 24, theme, keymap, now, above });
}

test("the initial live region has a prompt and the status line, and no empty row", () => {
  expect(region({}, "none")).toEqual(["> ", STATUS]);
});

test("a blank line separates the prompt from the transcript", () => {
  expect(region({}, "other")).toEqual(["", "> ", STATUS]);
  expect(region({}, "call")).toEqual(["", "> ", STATUS]);
});

test("a running call stays with the calls above until it has something to show", () => {
  const call = toolCall("bash", { command: "make" });
  const change: Partial<View> = { activity: { type: "tool", since: 0, toolName: "bash" } };
  const running = "⠋ Running bash… (1 min 5 s · Esc to stop)";
  const below = ["", running, "", "> ", STATUS];
  const live = (partial?: string) => [
    { type: "tool" as const, call: { ...call, ...(partial !== undefined && { partial }) } },
  ];
  expect(region({ ...change, live: live() }, "call", 65_000)).toEqual(["• bash make · 1 min 5 s", ...below]);
  expect(region({ ...change, live: live("cc a.c\n") }, "call", 65_000)).toEqual([
    ...["", "• bash make · 1 min 5 s", "  cc a.c"],
    ...below,
  ]);
});

test("queued prompts are shown above the prompt, with a hint below", () => {
  expect(region({ queued: [{ id: "1", text: "a\nb" }], hint: "Press it again" }, "other")).toEqual([
    "",
    "  queued: a b",
    "  Alt+↑ edits the last one",
    "> ",
    "Press it again",
    STATUS,
  ]);
});

test("a hint is wrapped, and cut to one line below a list, which leaves one line for it", () => {
  const hint = `Mode accept-edits: ${"also runs commands that change files ".repeat(2)}inside the project.`;
  const wrapped = region({ hint }, "none").slice(1, -1);
  expect([wrapped.length, wrapped.join(" ")]).toEqual([2, hint]);
  const dialog = {
    type: "picker" as const,
    name: "n",
    title: "T",
    items: [],
    filter: "",
    selected: 0,
    keys: [],
  };
  expect(region({ hint, dialog }, "none").slice(-2)).toEqual([`${hint.slice(0, 59)}…`, STATUS]);
});
