import { describe, expect, test } from "bun:test";
import {
  holdsCondition,
  isMatched,
  parseHooks,
  toHookName,
} from "../../../src/extensions/hooks/hook-settings.ts";

const ORIGIN = { source: ".claude/settings.json", isUsers: false };

describe("parseHooks()", () => {
  test("reads commands, arguments, time limits and addresses as Claude Code writes them", () => {
    const { hooks, problems } = parseHooks(
      {
        PreToolUse: [
          {
            matcher: "Bash",
            hooks: [
              { type: "command", command: "guard.sh", timeout: 5, if: "Bash(git *)", onFailure: "block" },
              { type: "command", command: "echo", args: ["it's", "$HOME"] },
            ],
          },
        ],
        Stop: [{ hooks: [{ type: "http", url: "http://127.0.0.1:9/hook", headers: { "X-A": 1 } }] }],
      },
      ORIGIN,
    );
    expect(problems).toEqual([]);
    expect(
      hooks.map(({ event, matcher, action, timeoutMs, blocksOnFailure }) => [
        event,
        matcher,
        action,
        timeoutMs,
        blocksOnFailure,
      ]),
    ).toEqual([
      ["PreToolUse", "Bash", { type: "command", command: "guard.sh" }, 5_000, true],
      ["PreToolUse", "Bash", { type: "command", command: "echo 'it'\\''s' '$HOME'" }, 60_000, false],
      [
        "Stop",
        undefined,
        { type: "http", url: "http://127.0.0.1:9/hook", headers: { "X-A": "1" } },
        60_000,
        false,
      ],
    ]);
  });

  test("names what it does not use, and uses the rest", () => {
    const { hooks, problems } = parseHooks(
      {
        NoSuchEvent: [{ hooks: [{ type: "command", command: "x" }] }],
        Stop: [
          {
            hooks: [{ type: "http", url: "http://example.com/hook" }, { type: "prompt", prompt: "x" }, null],
          },
          { hooks: [] },
          7,
          { hooks: [{ type: "command", command: "kept.sh" }] },
        ],
      },
      ORIGIN,
    );
    expect(hooks.map(({ action }) => action)).toEqual([{ type: "command", command: "kept.sh" }]);
    expect(problems).toHaveLength(6);
    expect(problems.join("\n")).toContain("its url is not on this machine");
  });

  test.each([[null], [1], ["x"], [[]], [{ PreToolUse: null }], [{ PreToolUse: { hooks: {} } }]])(
    "survives %j",
    (value) => {
      expect(parseHooks(value, ORIGIN).hooks).toEqual([]);
    },
  );
});

describe("a matcher", () => {
  test.each([
    [undefined, "bash", true],
    ["", "bash", true],
    ["*", "bash", true],
    ["Bash", "bash", true],
    ["bash", "bash", true],
    ["Bas", "bash", false],
    ["Write|Edit", "edit", true],
    ["Write, Edit", "apply_patch", true],
    ["Write|Edit", "bash", false],
    ["mcp__docs__.*", "mcp__docs__search", true],
    ["mcp__docs", "mcp__docs__search", false],
    ["my-tool", "my-tool", true],
    ["Notebook.*|Re(ad", "read", true],
  ])("%j is about %s: %p", (matcher, tool, expected) => {
    expect(isMatched({ matcher }, tool)).toBe(expected);
  });
});

describe("a condition", () => {
  test.each([
    ["Bash(git *)", "git push", true],
    ["Bash(git:*)", "git", true],
    ["Bash(git *)", "cd x && git push", true],
    ["Bash(git *)", "FOO=x git push", true],
    ["Bash(git *)", "gitk", false],
    ["Bash(rm -rf *)", "rm -rf /", true],
    ["Edit", "git push", false],
  ])("%s holds for the command %s: %p", (condition, command, expected) => {
    expect(holdsCondition(condition, "bash", { command })).toBe(expected);
  });
});

test("hooks are told Claude Code's names of tools", () => {
  expect(["bash", "read", "edit", "write", "glob", "grep", "mcp__a__b"].map(toHookName)).toEqual([
    ...["Bash", "Read", "Edit", "Write", "Glob", "Grep", "mcp__a__b"],
  ]);
});
