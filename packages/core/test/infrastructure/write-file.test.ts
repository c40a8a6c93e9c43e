import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { FileChangedError, writeWholeFile } from "../../src/infrastructure/fs/write.ts";
import { getAttribute, setAttribute } from "../support/extended-attribute.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { findAttributeObstacle, ONLY_ROOT_CAN, testUnless } from "../support/test-unless.ts";

const look = (path: string) => lstatSync(path, { bigint: true });

function makeFile(content: string): { directory: string; path: string } {
  const directory = makeTempDir();
  const path = join(directory, "file");
  writeFileSync(path, content);
  return { directory, path };
}

test("the result describes the file after the write", () => {
  const { directory, path } = makeFile("old");
  expect(writeWholeFile(path, Buffer.from("new content"), look(path))).toEqual(look(path));
  expect(writeWholeFile(join(directory, "new"), Buffer.from("x"), undefined)).toEqual(
    look(join(directory, "new")),
  );
});

test("a file that was changed or created in the meantime is not overwritten", () => {
  const { directory, path } = makeFile("old");
  const before = look(path);
  writeFileSync(path, "theirs");
  expect(() => writeWholeFile(path, Buffer.from("mine"), before)).toThrow(FileChangedError);
  expect(() => writeWholeFile(path, Buffer.from("mine"), undefined)).toThrow(FileChangedError);
  expect(readFileSync(path, "utf8")).toBe("theirs");
  expect(readdirSync(directory)).toEqual(["file"]);
});

testUnless(findAttributeObstacle())("extended attributes stay", () => {
  const { directory, path } = makeFile("old");
  expect(setAttribute(path, "user.note", "kept")).toBe(true);
  writeWholeFile(path, Buffer.from("new"), look(path));
  expect(getAttribute(path, "user.note")).toBe("kept");
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(readdirSync(directory)).toEqual(["file"]);
});

testUnless(ONLY_ROOT_CAN)("the owner stays", () => {
  const { path } = makeFile("old");
  chownSync(path, 1234, 2345);
  chmodSync(path, 0o2751);
  writeWholeFile(path, Buffer.from("new"), look(path));
  const { uid, gid, mode } = statSync(path);
  expect([uid, gid, mode & 0o7777]).toEqual([1234, 2345, 0o2751]);
});

/** Writes as a process that may make files of 8 KB at most and, as superuser, without its privileges. */
function writeLimited(path: string, bytes: number): { message: string; output: string } {
  const module = join(import.meta.dir, "../../src/infrastructure/fs/write.ts");
  const script = `
    const { writeWholeFile } = await import(${JSON.stringify(module)});
    const { lstatSync } = await import("node:fs");
    try {
      writeWholeFile(${JSON.stringify(path)}, Buffer.alloc(${bytes}, "n"), lstatSync(${JSON.stringify(path)}, { bigint: true, throwIfNoEntry: false }));
      console.log("written");
    } catch (error) { console.log(error.code ?? error.message); }`;
  const { stdout, stderr } = Bun.spawnSync(
    ["sh", "-c", 'trap "" XFSZ; ulimit -f 16; exec "$0" -e "$1"', process.execPath, script],
    { env: { ...process.env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" } },
  );
  return { output: stdout.toString().trim(), message: stderr.toString() };
}

describe("a write that fails partway", () => {
  test("keeps the old content and leaves no temporary file", () => {
    const { directory, path } = makeFile("old");
    expect(writeLimited(path, 100_000)).toEqual({ output: "EFBIG", message: "" });
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(readdirSync(directory)).toEqual(["file"]);
  });

  test("does not change a file with two names", () => {
    const { directory, path } = makeFile("old content");
    linkSync(path, join(directory, "other"));
    expect(writeLimited(path, 100_000)).toEqual({ output: "EFBIG", message: "" });
    expect(readFileSync(path, "utf8")).toBe("old content");
    expect(readdirSync(directory).sort()).toEqual(["file", "other"]);
  });

  test("creates no file", () => {
    const directory = makeTempDir();
    expect(writeLimited(join(directory, "new"), 100_000)).toEqual({ output: "EFBIG", message: "" });
    expect(readdirSync(directory)).toEqual([]);
    expect(writeLimited(join(directory, "new"), 4_000).output).toBe("written");
  });
});
