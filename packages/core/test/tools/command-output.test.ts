import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { OutputFile } from "../../src/infrastructure/process/output-file.ts";
import { CommandOutput } from "../../src/tools/shell/output.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function collect(text: string, chunkBytes: number) {
  const directory = makeTempDir();
  const output = new CommandOutput(() => OutputFile.create(directory, "call_1"));
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    output.add(bytes.subarray(start, start + chunkBytes));
  }
  return { text: output.finish(), path: output.path };
}

const numbered = (count: number, word = "") =>
  Array.from({ length: count }, (_, index) => `${index + 1}${word}\n`).join("");

describe("output", () => {
  test("within the limits is complete and creates no file", () => {
    const text = numbered(1_980);
    expect(collect(text, 7)).toEqual({ text, path: undefined });
  });

  test.each([7, 4_096, 1_000_000])(
    "beyond them is truncated in the middle, in chunks of %d bytes",
    (chunkBytes) => {
      const whole = numbered(5_000);
      const { text, path } = collect(whole, chunkBytes);
      expect(text).toBe(
        [
          ...Array.from({ length: 600 }, (_, index) => `${index + 1}`),
          `[3,040 lines, 14.5 KB omitted here; complete output: ${path}]`,
          ...Array.from({ length: 1_360 }, (_, index) => `${index + 3_641}`),
        ].join("\n"),
      );
      expect(readFileSync(path ?? "", "utf8")).toBe(whole);
    },
  );

  test("every byte is either shown or counted as left out", () => {
    const whole = "é".repeat(60_000);
    const { text } = collect(whole, 1_001);
    const [, head = "", amount, tail = ""] = /^(é+)\n\[([\d.]+ KB) omitted.*\]\n(é+)$/.exec(text) ?? [];
    expect(amount).toBe(`${((120_000 - 2 * (head.length + tail.length)) / 1024).toFixed(1)} KB`);
  });

  test("that is not text stays within 50 KB too", () => {
    const output = new CommandOutput(() => undefined);
    output.add(Buffer.alloc(200_000, 0xff));
    const text = output.finish();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(49 * 1024);
    expect(text).toContain("omitted here; it was not saved]");
  });

  test("has its latest lines available at any time", () => {
    const output = new CommandOutput(() => undefined);
    output.add(Buffer.from(numbered(10)));
    expect(output.latest()).toBe(numbered(10));
    output.add(Buffer.from(numbered(5_000)));
    expect(output.latest()).toBe(numbered(5_000).split("\n").slice(-21).join("\n"));
  });
});
