import { expect, test } from "bun:test";
import { readInputLine } from "../../src/line-prompt/input.ts";

test("a line of white space is empty", () => {
  expect(["", " \t"].map(readInputLine)).toEqual([{ kind: "empty" }, { kind: "empty" }]);
});

test("/quit and its other names leave, when nothing stands behind them", () => {
  expect(["/quit", "/exit ", " /q"].map(readInputLine)).toEqual(Array(3).fill({ kind: "quit" }));
});

test.each([
  "/help",
  "/compact  the lexer's numbers",
  "/Compact",
  "/?",
  "/quit now",
  "/my-command with words",
])("%p may be a command", (line) => {
  expect(readInputLine(` ${line} `)).toEqual({ kind: "command", line });
});

test.each([
  "/etc/hosts",
  "/etc/hosts is wrong",
  "/tmp/",
  "/notes.md says so",
  "/",
  "/ a comment",
  "/a+/g matches it",
  "  what does /help do?",
])("%p is a prompt as it stands", (line) => {
  expect(readInputLine(line)).toEqual({ kind: "prompt", text: line });
});

test("two slashes begin a prompt with one", () => {
  expect(["//help", " //compact the bales", "///"].map(readInputLine)).toEqual([
    { kind: "prompt", text: "/help" },
    { kind: "prompt", text: "/compact the bales" },
    { kind: "prompt", text: "//" },
  ]);
});
