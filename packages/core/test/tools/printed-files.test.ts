import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAllProcesses } from "../../src/infrastructure/process/all-processes.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { createEditTool, createWriteTool } from "../../src/tools/file-tools.ts";
import { failure } from "../support/file-workspace.ts";
import { createToolWorkspace, runTool } from "../support/tool-workspace.ts";

afterEach(endAllProcesses);

const UNREAD = "has not been read in this session";

/** A file of three lines, on which `command` runs before `two` is replaced. */
async function editAfter(
  command: string,
  content: string | Uint8Array = "one\ntwo\nthree\n",
): Promise<string> {
  const workspace = createToolWorkspace();
  mkdirSync(join(workspace.cwd, "sub"));
  const path = join(workspace.cwd, "sub/a b.txt");
  writeFileSync(path, content);
  symlinkSync(path, join(workspace.cwd, "link.txt"));
  await runTool(createBashTool(workspace), { command });
  const edit = runTool(createEditTool(workspace), { file_path: path, old_string: "two", new_string: "2" });
  return edit.then(
    () => readFileSync(path, "utf8"),
    (error: unknown) => String(error),
  );
}

describe("a file that a command printed completely can be edited", () => {
  test.each([
    "cat 'sub/a b.txt'",
    "cat link.txt",
    "cat sub/a\\ b.txt link.txt",
    "sed -n p link.txt",
    "sed -n '1,200p' link.txt",
    "head -50 link.txt",
    "tail -n 50 link.txt",
    "echo before; cat link.txt; echo after; false",
    "cd sub && cat 'a b.txt'",
    "ls && cat < link.txt | cat",
  ])("%s", async (command) => {
    expect(await editAfter(command)).toBe("one\n2\nthree\n");
  });

  test("with CRLF line ends, and without a line end at the end", async () => {
    expect(await editAfter("cat link.txt", "one\r\ntwo\r\nthree")).toBe("one\r\n2\r\nthree");
  });
});

describe("a file that a command did not print completely still has to be read", () => {
  test.each([
    "head -2 link.txt",
    "tail -2 link.txt",
    "sed -n 2,3p link.txt",
    "cat -n link.txt",
    "sed s/one/1/ link.txt",
    "cat link.txt | grep -v one",
    "cat link.txt > copy.txt",
    "wc -l link.txt",
    "cat link.txt && echo four >> link.txt",
    "printf x; cat link.txt",
  ])("%s", async (command) => {
    expect(await editAfter(command)).toContain(UNREAD);
  });

  test("when it has characters that an output does not show", async () => {
    expect(await editAfter("cat link.txt", "one\n\x1b[31mtwo\x1b[0m\nthree\n")).toContain(UNREAD);
  });

  test("when it is longer than an output may be", async () => {
    expect(await editAfter("cat link.txt", `two\n${"line of a long file\n".repeat(5_000)}`)).toContain(
      UNREAD,
    );
  });
});

test("a printed file that changes afterwards is not overwritten", async () => {
  const workspace = createToolWorkspace();
  writeFileSync(join(workspace.cwd, "a.txt"), "one\n");
  await runTool(createBashTool(workspace), { command: "cat a.txt" });
  writeFileSync(join(workspace.cwd, "a.txt"), "changed\n");
  const write = runTool(createWriteTool(workspace), { file_path: "a.txt", content: "two\n" });
  expect(await failure(write)).toContain("has changed on disk since it was read");
});

test("words of a command that name no regular file are skipped", async () => {
  const workspace = createToolWorkspace();
  const command = "mkfifo pipe; ln -s nowhere dangling; cat dangling sub /dev/null; echo pipe";
  const result = await runTool(createBashTool(workspace), { command });
  expect(result.output).toContain("dangling");
  expect(workspace.files.readFiles).toEqual([]);
});
