import { describe, expect, test } from "bun:test";
import { MAX_OUTPUT_BYTES, truncateOutput, truncationNote } from "../../src/tool/result.ts";

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

describe("truncateOutput", () => {
  test("an output within both limits is unchanged", () => {
    expect(truncateOutput(lines(2_000))).toEqual({ text: lines(2_000) });
  });

  test("the first 2,000 lines of a longer output are kept", () => {
    const { text, omitted } = truncateOutput(lines(2_500));
    expect(text).toBe(lines(2_000));
    expect(omitted).toEqual({ shownLines: 2_000, totalLines: 2_500, totalBytes: lines(2_500).length });
  });

  test("the last 2,000 lines are kept for a tool that truncates the beginning", () => {
    const { text } = truncateOutput(lines(2_500), "tail");
    expect(text.startsWith("line 501\n")).toBe(true);
    expect(text.endsWith("\nline 2500")).toBe(true);
  });

  test("one long line is cut at 50 KB", () => {
    const { text, omitted } = truncateOutput("x".repeat(1_000_000));
    expect(MAX_OUTPUT_BYTES).toBe(50 * 1024);
    expect(text).toBe("x".repeat(MAX_OUTPUT_BYTES));
    expect(omitted?.totalBytes).toBe(1_000_000);
  });

  test.each(["head", "tail"] as const)("a character is never split at the %s", (keep) => {
    for (const padding of ["", "a", "ab", "abc"]) {
      const text = padding + "😀é漢".repeat(20_000) + padding;
      const cut = truncateOutput(text, keep).text;
      expect(cut).not.toContain("\uFFFD");
      expect(text[keep === "head" ? "startsWith" : "endsWith"](cut)).toBe(true);
      expect(Buffer.byteLength(cut)).toBeWithin(MAX_OUTPUT_BYTES - 3, MAX_OUTPUT_BYTES + 1);
    }
  });
});

describe("truncationNote", () => {
  test("says how much is shown and where the rest is", () => {
    const omitted = { shownLines: 2_000, totalLines: 2_500, totalBytes: 25_000 };
    expect(truncationNote(omitted, "head", "/tmp/out.txt")).toBe(
      "[Output truncated: first 2000 of 2500 lines shown, 25 KB in total. Complete output: /tmp/out.txt]",
    );
  });

  test("says if one line was truncated and nothing could be saved", () => {
    const omitted = { shownLines: 1, totalLines: 1, totalBytes: 102_400 };
    expect(truncationNote(omitted, "tail", undefined)).toBe(
      "[Output truncated: the last part shown, 100 KB in total.]",
    );
  });
});
