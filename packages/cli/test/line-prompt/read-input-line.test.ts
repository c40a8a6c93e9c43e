import { expect, test } from "bun:test";
import { readInputLine } from "../../src/line-prompt/input.ts";

test("readInputLine() returns an empty line for white space", () => {
  expect(["", " \t"].map(readInputLine)).toEqual([{ kind: "empty" }, { kind: "empty" }]);
});

test("readInputLine() quits for /quit and its aliases without further text", () => {
  expect(["/quit", "/exit ", " /q"].map(readInputLine)).toEqual(Array(3).fill({ kind: "quit" }));
});

test.each([
  "/help",
  "/compact  the lexer's numbers",
  "/Compact",
  "/?",
  "/quit now",
  "/my-command with words",
])("readInputLine() parses %p as a possible command", (line) => {
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
])("readInputLine() parses %p as a prompt", (line) => {
  expect(readInputLine(line)).toEqual({ kind: "prompt", text: line });
});

test("readInputLine() parses two slashes as a prompt with one", () => {
  expect(["//help", " //compact the bales", "///"].map(readInputLine)).toEqual([
    { kind: "prompt", text: "/help" },
    { kind: "prompt", text: "/compact the bales" },
    { kind: "prompt", text: "//" },
  ]);
});
