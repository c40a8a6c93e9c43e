import { expect, test } from "bun:test";
import { frameBytes, withoutColors } from "../src/measure/terminal-run.ts";

const frame = (text: string) => `\x1b[?2026h${text}\x1b[?2026l`;

test("frame sizes are those of the synchronized updates, in bytes", () => {
  expect(frameBytes(`before${frame("abc")}\x1b[6n${frame("⠋")}after`)).toEqual([19, 19]);
  expect(frameBytes("none")).toEqual([]);
});

test("removing colours removes nothing else", () => {
  expect(withoutColors("\x1b[35ma\x1b[m\x1b[2Kb\x1b[0;1;38:2:1:2:3mc\x1b[?25hm[m")).toBe(
    "a\x1b[2Kbc\x1b[?25hm[m",
  );
});
