import { describe, expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync, symlinkSync, truncateSync, writeSync } from "node:fs";
import { MAX_OUTPUT_BYTES } from "../../src/tool/result.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { failure, makeFileWorkspace } from "../support/file-workspace.ts";

describe("text", () => {
  test("lines are numbered, with any line ends", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "one\r\ntwo\rthree\n\nfive");
    expect(await files.read({ file_path: "a.txt" })).toEqual({
      output: "1\tone\n2\ttwo\n3\tthree\n4\t\n5\tfive",
      metadata: { firstLine: 1, lastLine: 5 },
    });
  });

  test("a window of lines names the next offset if there is more", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "1\n2\n3\n4\n");
    expect((await files.read({ file_path: "a.txt", offset: 2, limit: 2 })).output).toBe(
      "2\t2\n3\t3\n(Lines 2-3 shown; more follow. Continue with offset=4.)",
    );
    expect((await files.read({ file_path: "a.txt", offset: 3, limit: 2 })).output).toBe("3\t3\n4\t4");
  });

  test("2,000 lines are shown by default and at most", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "x\n".repeat(3_000));
    const lines = (await files.read({ file_path: "a.txt" })).output.split("\n");
    expect(lines.slice(1_999)).toEqual([
      "2000\tx",
      "(Lines 1-2000 shown; more follow. Continue with offset=2001.)",
    ]);
    expect((await files.read({ file_path: "a.txt", limit: 5_000 })).output.split("\n").at(-1)).toBe(
      "(Lines 1-2000 shown, at most 2000 at once; more follow. Continue with offset=2001.)",
    );
  });

  test("wide lines end the page before every tool's output limit does", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", `${"é".repeat(500)}\n`.repeat(1_000));
    const { output, metadata } = await files.read({ file_path: "a.txt" });
    expect(Buffer.byteLength(output)).toBeLessThan(MAX_OUTPUT_BYTES);
    expect(output).toEndWith(`Continue with offset=${Number(metadata?.lastLine) + 1}.)`);
  });

  test("offset 0 is the first line", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "1\n2\n");
    expect((await files.read({ file_path: "a.txt", offset: 0, limit: 5 })).output).toBe("1\t1\n2\t2");
  });

  test("an empty file says so", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "");
    expect((await files.read({ file_path: "a.txt" })).output).toBe("(The file is empty.)");
  });

  test("an offset beyond the end reports the number of lines", async () => {
    const files = makeFileWorkspace();
    const path = files.put("a.txt", "1\n2\n");
    expect(await failure(files.read({ file_path: "a.txt", offset: 4 }))).toBe(
      `offset 4 is beyond the end of ${path}, which has 2 lines. Use a smaller offset.`,
    );
  });

  test("a long line is truncated, never inside a character, and says so", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", `${"x".repeat(1_999)}😀${"y".repeat(1_000_000)}\nend`);
    expect((await files.read({ file_path: "a.txt" })).output).toBe(
      `1\t${"x".repeat(1_999)}… [line truncated: the first 1,999 of 1,002,001 characters; use bash to see the rest]\n2\tend`,
    );
  });

  test("the byte order mark is not shown and UTF-16 with one is decoded", async () => {
    const files = makeFileWorkspace();
    files.put("a.txt", "\ufeffone\n");
    expect((await files.read({ file_path: "a.txt" })).output).toBe("1\tone");
    files.put("b.txt", Buffer.from("\ufeffä😀\r\nb", "utf16le"));
    expect((await files.read({ file_path: "b.txt" })).output).toBe(
      "1\tä😀\n2\tb\n(The encoding is UTF-16LE, detected from its bytes; give encoding if that is wrong. edit and write keep it.)",
    );
    files.put("c.txt", Buffer.from("\ufeffä", "utf16le").swap16());
    expect((await files.read({ file_path: "c.txt" })).output).toStartWith("1\tä\n(The encoding is UTF-16BE");
  });

  test("binary files are described by kind and size", async () => {
    const files = makeFileWorkspace();
    const path = files.put("a.bin", Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(4_080)]));
    expect(await failure(files.read({ file_path: "a.bin" }))).toBe(
      `${path} is not a text file (SQLite database, 4.0 KB). Use bash with a program that knows the format, such as file or xxd.`,
    );
  });
});

describe("sizes", () => {
  test("a gigabyte is not read to show its beginning", async () => {
    const files = makeFileWorkspace();
    const path = files.put("big.log", "first\nsecond\n".repeat(100_000));
    truncateSync(path, 1024 ** 3);
    const before = process.memoryUsage().rss;
    const started = performance.now();
    expect((await files.read({ file_path: "big.log", limit: 1 })).output).toStartWith(
      "1\tfirst\n(Lines 1-1 shown",
    );
    expect(performance.now() - started).toBeLessThan(500 + BUSY_MS);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 ** 2);
  });

  test("a line that does not end is given up", async () => {
    const files = makeFileWorkspace();
    const fd = openSync(files.at("long.txt"), "w");
    const piece = Buffer.alloc(4 * 1024 ** 2, "a");
    for (let written = 0; written < 64 * 1024 ** 2; written += piece.length) writeSync(fd, piece);
    closeSync(fd);
    expect((await files.read({ file_path: "long.txt" })).output.slice(2_002)).toMatch(
      /^… \[line truncated: the first 2,000 of more than 1\d,\d{3},\d{3} characters; use bash to see the rest\]$/,
    );
  });
});

describe("a path that is not a regular file", () => {
  test("a directory is a hint to ls", async () => {
    const files = makeFileWorkspace();
    expect(await failure(files.read({ file_path: "." }))).toBe(
      `${files.root} is a directory. Use ls to list it.`,
    );
  });

  test("pipes and devices are rejected without waiting", async () => {
    const files = makeFileWorkspace();
    Bun.spawnSync(["mkfifo", files.at("pipe")]);
    expect(await failure(files.read({ file_path: "pipe" }))).toBe(
      `${files.at("pipe")} is a named pipe, which cannot be read as a file.`,
    );
    expect(await failure(files.read({ file_path: "/dev/zero" }))).toContain("/dev/zero is a device");
  });

  test("a missing file is reported with the existing names", async () => {
    const files = makeFileWorkspace();
    files.put("src/index.ts", "x");
    files.put("src/router.ts", "x");
    expect(await failure(files.read({ file_path: "src/indx.ts" }))).toBe(
      `There is no file or directory ${files.at("src/indx.ts")}. Did you mean ${files.at("src/index.ts")}?`,
    );
    expect(await failure(files.read({ file_path: "scr/index.ts" }))).toContain(
      `The directory ${files.at("scr")} does not exist either. Did you mean ${files.at("src")}?`,
    );
    expect(await failure(files.read({ file_path: "src/zzz" }))).toContain(
      "src contains index.ts, router.ts.",
    );
    expect(await failure(files.read({ file_path: "src/index.ts/x" }))).toContain(
      "a file, not a directory (ENOTDIR)",
    );
  });

  test("links are followed; a dangling link and a cycle are reported", async () => {
    const files = makeFileWorkspace();
    files.put("real.txt", "text");
    symlinkSync("real.txt", files.at("link"));
    symlinkSync("gone.txt", files.at("dangling"));
    symlinkSync("loop", files.at("loop"));
    expect((await files.read({ file_path: "link" })).output).toBe("1\ttext");
    expect(files.workspace.files.readFiles).toEqual([files.at("real.txt")]);
    expect(await failure(files.read({ file_path: "dangling" }))).toContain(
      "is a symbolic link to gone.txt, which does not",
    );
    expect(await failure(files.read({ file_path: "loop" }))).toContain("its symbolic links lead in a circle");
  });
});

test("paths are relative to the working directory or the home directory, and NUL is rejected", async () => {
  const files = makeFileWorkspace();
  mkdirSync(files.at("home"));
  files.put("home/notes", "from home");
  expect((await files.read({ file_path: "~/notes" })).output).toBe("1\tfrom home");
  expect(await failure(files.read({ file_path: "a\0b" }))).toContain("NUL");
  expect(await failure(files.read({ file_path: "" }))).toContain("The path is empty");
  expect(files.readTool.approval?.({ file_path: "home/../x" })).toEqual({
    permission: "read",
    toolName: "read",
    description: "read: home/../x",
    details: { path: files.at("x") },
  });
});
