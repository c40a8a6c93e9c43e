import { expect, test } from "bun:test";
import { statusLine } from "../../src/tui/live-region.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { createView, type Status } from "../../src/tui/view.ts";

const plain = createTheme({ color: false });

const status: Status = {
  ...createView({ cwd: "/home/somebody/work/shop" }).status,
  model: "openrouter/vendor/model-1",
  effort: "high",
  contextTokens: 20_000,
  contextWindow: 100_000,
  sessionTokens: 52_000,
  cost: 1.2,
  gitBranch: "main",
};

function line(width: number, change: Partial<Status> = {}): string {
  return statusLine({ ...status, ...change }, { width, theme: plain });
}

test("parts of the status line are dropped by width: directory except its name, branch, tokens, effort, directory, server prefix, cost, the word context, mode", () => {
  const all =
    "openrouter/vendor/model-1 · thinking high · 20% context · 52k tokens · $1.20 · ask · main · /home/somebody/work/shop";
  expect(line(120)).toBe(all);
  expect([110, 95, 85, 75, 62, 55, 48, 30, 25, 12, 5].map((width) => line(width))).toEqual([
    "openrouter/vendor/model-1 · thinking high · 20% context · 52k tokens · $1.20 · ask · main · shop",
    "openrouter/vendor/model-1 · thinking high · 20% context · 52k tokens · $1.20 · ask · shop",
    "openrouter/vendor/model-1 · thinking high · 20% context · $1.20 · ask · shop",
    "openrouter/vendor/model-1 · 20% context · $1.20 · ask · shop",
    "openrouter/vendor/model-1 · 20% context · $1.20 · ask · shop",
    "openrouter/vendor/model-1 · 20% context · $1.20 · ask",
    "model-1 · 20% context · $1.20 · ask",
    "model-1 · 20% context · ask",
    "model-1 · 20% · ask",
    "model-1",
    "mode…",
  ]);
});

test("the number of jobs stays in the status line as long as the sandbox does", () => {
  expect([80, 40, 36, 25].map((width) => line(width, { isSandboxed: false, jobs: 2 }))).toEqual([
    "openrouter/vendor/model-1 · 20% context · $1.20 · ask · 2 jobs · unsandboxed",
    "model-1 · ask · 2 jobs · no sandbox",
    "model-1 · ask · 2 jobs · no sandbox",
    "model-1 · ask",
  ]);
});

test("the sandbox stays in the status line beside the mode when everything else but the model is dropped", () => {
  const shown = (isSandboxed: boolean) =>
    [150, 80, 40, 30, 27, 20].map((width) => line(width, { isSandboxed }));
  expect(shown(true)).toEqual([
    "openrouter/vendor/model-1 · thinking high · 20% context · 52k tokens · $1.20 · ask · sandboxed · main · /home/somebody/work/shop",
    "openrouter/vendor/model-1 · 20% context · $1.20 · ask · sandboxed · shop",
    "model-1 · 20% context · ask · sandboxed",
    "model-1 · 20% · ask · sandbox",
    "model-1 · ask · sandbox",
    "model-1 · ask",
  ]);
  expect(shown(false).slice(1)).toEqual([
    "openrouter/vendor/model-1 · 20% context · $1.20 · ask · unsandboxed · shop",
    "model-1 · 20% · ask · unsandboxed",
    "model-1 · ask · no sandbox",
    "model-1 · ask · no sandbox",
    "model-1 · ask",
  ]);
});

test("the sandbox is on a line of 40 columns with the default model and a long mode", () => {
  const model = { model: "claude-sonnet-5-5", effort: undefined };
  expect(line(40, { ...model, isSandboxed: true })).toBe("claude-sonnet-5-5 · 20% · ask · sandbox");
  expect(line(40, { ...model, isSandboxed: false })).toBe("claude-sonnet-5-5 · ask · no sandbox");
  const changed = { ...model, isSandboxed: false, approvalMode: "accept-edits" as const };
  expect(line(48, changed)).toBe("claude-sonnet-5-5 · accept-edits · no sandbox");
});

test("a long path shows only its last name in the status line, and a path without one all of it", () => {
  const cwd = "/home/somebody/work/customers/a-rather-long-name/shop";
  expect(line(200, { cwd })).toEndWith(" · main · …/shop");
  expect(line(200, { cwd: "/" })).toEndWith(" · main · /");
  expect(line(200, { cwd: `/${"x".repeat(300)}` })).toEndWith(` · main · …/${"x".repeat(39)}…`);
});

test("only the dots of the status line are dim, and a nearly full context is marked by a sign and in bold", () => {
  const colored = createTheme({ color: true });
  const full = {
    contextTokens: 90_000,
    model: "m",
    effort: undefined,
    gitBranch: undefined,
    sessionTokens: 0,
  };
  const shown = statusLine({ ...status, ...full, cwd: "/! 90% context" }, { width: 80, theme: colored });
  const ask = "\x1b[1m\x1b[32mask\x1b[39m\x1b[22m";
  expect(shown).toBe(
    ["m", "\x1b[1m! 90% context\x1b[22m", "$1.20", ask, "/! 90% context"].join("\x1b[2m · \x1b[22m"),
  );
  expect(line(40, full)).toBe("m · ! 90% context · $1.20 · ask · shop");
});

test("names from outside are one safe line in the status line", () => {
  const names = { model: "a\x1b[31m\nb", gitBranch: undefined, cwd: "/a\nb\x07", effort: undefined };
  expect(line(80, names)).toBe("a\\x1b[31m b · 20% context · 52k tokens · $1.20 · ask · /a b\\x07");
});

test("the mode in the status line has a colour and is never dim", () => {
  const theme = createTheme({ color: true });
  const shown = (["ask", "accept-edits", "plan", "auto", "deny"] as const).map((approvalMode) => {
    const painted = statusLine({ ...status, approvalMode }, { width: 200, theme });
    return new RegExp(`\\x1b\\[22m((?:\\x1b\\[\\d+m)+)${approvalMode}\\x1b`).exec(painted)?.[1];
  });
  expect(shown).toEqual([
    "\x1b[1m\x1b[32m",
    "\x1b[1m\x1b[35m",
    "\x1b[1m\x1b[36m",
    "\x1b[1m\x1b[31m",
    "\x1b[1m",
  ]);
});
