import { expect, test } from "bun:test";
import { createProgress } from "../src/faults/try-faults.ts";

function record(isTTY?: boolean): string {
  let text = "";
  const output = { ...(isTTY !== undefined && { isTTY }), write: (more: string) => (text += more) };
  const progress = createProgress(output);
  progress.show("1 of 2: edits");
  progress.show("2 of 2: log");
  progress.end();
  return text;
}

test("progress overwrites one line of a terminal", () => {
  expect(record(true)).toBe("\r1 of 2: edits\r2 of 2: log  \n");
});

test("progress writes nothing to a file or a pipe", () => {
  expect([record(), record(false)]).toEqual(["", ""]);
});
