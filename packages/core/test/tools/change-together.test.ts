import { expect, test } from "bun:test";
import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFileWorkspace } from "../support/file-workspace.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const NAMES = ["one", "two", "three", "four"];
const TIMES = 100;

const toText = (count: number) => NAMES.map((name) => `${name}: ${count}\n`).join("");

test.each(["edit", "write"])(
  "no change that %s reported is lost if four processes change one file",
  async (tool) => {
    const root = realpathSync(makeTempDir());
    writeFileSync(join(root, "counts.txt"), toText(0));
    const script = join(import.meta.dir, "..", "support", "change-in-turn.ts");
    const children = NAMES.map((name) =>
      Bun.spawn([process.execPath, script, root, tool, name, String(TIMES)], { stderr: "pipe" }),
    );
    const problems = await Promise.all(children.map(({ stderr }) => new Response(stderr).text()));
    expect(problems).toEqual(NAMES.map(() => ""));
    expect(readFileSync(join(root, "counts.txt"), "utf8")).toBe(toText(TIMES));
    expect(readdirSync(root)).toEqual(["counts.txt"]);
  },
  60_000,
);

test("parallel edits of one file in one process are all applied", async () => {
  const { put, edit, read, at } = makeFileWorkspace();
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index};\n`);
  put("a.txt", lines.join(""));
  await read({ file_path: "a.txt" });
  await Promise.all(
    lines.map((line) =>
      edit({ file_path: "a.txt", old_string: line, new_string: line.replace("line", "done") }),
    ),
  );
  expect(readFileSync(at("a.txt"), "utf8")).toBe(lines.join("").replaceAll("line", "done"));
});

test("a change is made after a process that held the lock on its directory was killed", async () => {
  const { put, root, readAndEdit, text } = makeFileWorkspace();
  put("a.txt", "old\n");
  const lock = join(import.meta.dir, "..", "..", "src", "infrastructure", "fs", "directory-lock.ts");
  const hold = `
    const { withDirectoryLock } = await import(${JSON.stringify(lock)});
    await withDirectoryLock(${JSON.stringify(root)}, () => {
      require("node:fs").writeSync(1, "held");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const holder = Bun.spawn([process.execPath, "-e", hold], { stdout: "pipe" });
  const { value } = await holder.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("held");
  const edited = readAndEdit("a.txt", "old", "new");
  holder.kill("SIGKILL");
  await edited;
  expect(text("a.txt")).toBe("new\n");
});
