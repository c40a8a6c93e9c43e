import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { createReadTool } from "../../src/tools/file-tools.ts";
import { createGrepTool } from "../../src/tools/search-tools.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

const CUT = Buffer.from("grüße 😀").subarray(0, -2);

afterEach(endAllProcesses);

/** A workspace with one file. */
function createPlace(content: string | Uint8Array) {
  const workspace = createToolWorkspace();
  writeFileSync(join(workspace.cwd, "cut.txt"), content);
  return workspace;
}

describe("for a file that was cut inside an emoji", () => {
  test("read shows the rest and names the byte of the cut", async () => {
    const { output, note } = await runTool(createReadTool(createPlace(CUT)), { file_path: "cut.txt" });
    expect(output).toBe("1\tgrüße \ufffd");
    expect(note).toContain("byte 0xF0 at offset 8, line 1");
  });

  test.each([
    ["bash", "grüße \ufffd"],
    ["grep", "cut.txt:1:grüße \ufffd"],
  ])("%s shows the rest, with a replacement character at the cut", async (name, expected) => {
    const place = createPlace(CUT);
    const { output } =
      name === "bash"
        ? await runTool(createBashTool(place), { command: "cat cut.txt" })
        : await runTool(createGrepTool(place), { pattern: "gr", output_mode: "content" });
    expect(output).toBe(expected);
  });
});

test.each([1_999, 2_000, 2_001])(
  "a line that is cut after %i characters contains no half of an emoji",
  async (length) => {
    const place = createPlace(`${"x".repeat(length)}${"😀".repeat(2_000)}`);
    const read = await runTool(createReadTool(place), { file_path: "cut.txt" });
    const found = await runTool(createGrepTool(place), { pattern: "xx", output_mode: "content" });
    expect([read.output.isWellFormed(), found.output.isWellFormed()]).toEqual([true, true]);
  },
);
