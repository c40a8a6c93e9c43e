import { expect, test } from "bun:test";
import fc from "fast-check";
import { readShellNote, toShellNote } from "../../src/session/summary-message.ts";

test("a note says who ran what, how it ended and what it printed", () => {
  expect(toShellNote({ command: "npm test", output: "1 fail\n[exit code 1]", exitCode: 1 })).toEqual([
    { type: "text", text: "!npm test" },
    {
      type: "text",
      text: "The user ran this command in their own shell, not through you. Exit code: 1. Its output:\n\n1 fail\n[exit code 1]",
    },
  ]);
});

test("a note can be read again, whatever was run and printed", () => {
  const exitCode = fc.option(fc.nat(255), { nil: null });
  fc.assert(
    fc.property(fc.record({ command: fc.string(), output: fc.string(), exitCode }), (note) => {
      expect(readShellNote({ content: toShellNote(note) })).toEqual(note);
    }),
  );
});

test("what the user said otherwise is no note", () => {
  const text = (value: string) => ({ type: "text" as const, text: value });
  const told = toShellNote({ command: "ls", output: "a", exitCode: 0 });
  expect(
    [
      "!ls",
      told.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
      [text("!ls"), text("Attached file a.ts")],
      [text("ls"), ...told.slice(1)],
      [...told, text("more")],
      [],
    ].map((content) => readShellNote({ content })),
  ).toEqual(Array.from({ length: 6 }, () => undefined));
});
