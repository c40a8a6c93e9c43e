import { expect, test } from "bun:test";
import { readInputLine } from "../src/line-prompt/read-input-line.ts";

test("a line of white space is empty", () => {
  expect(["", " \t"].map(readInputLine)).toEqual([{ kind: "empty" }, { kind: "empty" }]);
});

test("/compact has a focus, and /quit and /exit have nothing", () => {
  expect(readInputLine(" /compact  the lexer's numbers ")).toEqual({
    kind: "compact",
    focus: "the lexer's numbers",
  });
  expect(readInputLine("/compact")).toEqual({ kind: "compact", focus: "" });
  expect(["/quit", "/exit ", " /quit"].map(readInputLine)).toEqual(Array(3).fill({ kind: "quit" }));
});

test.each(["/help", "/compactfoo", "/Compact", "/?", "/quit now", "/my-command with words"])(
  "%p is a command that there is not",
  (line) => {
    expect(readInputLine(line)).toEqual({ kind: "unknown", command: line.split(" ")[0] ?? "" });
  },
);

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
