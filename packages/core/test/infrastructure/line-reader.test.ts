import { describe, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LineReaderOptions, readLines } from "../../src/infrastructure/fs/read.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const CHUNK_BYTES = 256 * 1024;

function read(content: string | Uint8Array, options: LineReaderOptions = {}) {
  const path = join(makeTempDir(), "file");
  writeFileSync(path, content);
  return [...readLines(path, options)];
}

const textsOf = (content: string | Uint8Array) => read(content).map(({ text }) => text);

describe("the lines of a file", () => {
  test("have no line ends, and the last one reports whether it had one", () => {
    expect(read("a\nb\r\nc")).toEqual([
      { text: "a", isComplete: true, isCut: false },
      { text: "b", isComplete: true, isCut: false },
      { text: "c", isComplete: false, isCut: false },
    ]);
  });

  test("that are empty are skipped, and so is the byte order mark at the beginning", () => {
    expect(textsOf("\uFEFFa\n\n\r\n\nb\n")).toEqual(["a", "b"]);
    expect([textsOf(""), textsOf("\n"), textsOf("\uFEFF")]).toEqual([[], [], []]);
  });

  test("keep a carriage return, a NUL and a separator in their middle", () => {
    expect(textsOf("a\rb\u2028c\0d\n")).toEqual(["a\rb\u2028c\0d"]);
  });

  test("are read correctly at any chunk boundary", () => {
    for (const shift of [-3, -2, -1, 0, 1, 2, 3]) {
      const first = "x".repeat(CHUNK_BYTES + shift);
      expect(textsOf(`${first}é🎉\n${first}\r\nend`)).toEqual([`${first}é🎉`, first, "end"]);
    }
  });

  test("with invalid bytes contain replacement characters", () => {
    expect(textsOf(new Uint8Array([0x61, 0xff, 0x62, 0x0a, 0x63]))).toEqual(["a\uFFFDb", "c"]);
  });
});

describe("a line that is longer than a chunk", () => {
  const long = "y".repeat(3 * CHUNK_BYTES);

  test("is returned as its beginning if that is enough", () => {
    const asked: string[] = [];
    const isBeginningEnough = (beginning: string) => {
      asked.push(beginning.slice(0, 1));
      return beginning.startsWith("y");
    };
    const lines = read(`short\n${long}\nshort\nz${long}\n`, { isBeginningEnough });
    expect(lines.map(({ text, isCut }) => [text.slice(0, 1), text.length < long.length, isCut])).toEqual([
      ["s", true, false],
      ["y", true, true],
      ["s", true, false],
      ["z", false, false],
    ]);
    expect(asked).toEqual(["y", "z"]);
  });
});

test("a link, a directory and a missing file are errors, and a pipe does not block", async () => {
  const directory = makeTempDir();
  const file = join(directory, "file");
  const link = join(directory, "link");
  const pipe = join(directory, "pipe");
  writeFileSync(file, "a\n");
  symlinkSync(file, link);
  await Bun.$`mkfifo ${pipe}`.quiet();
  expect(() => [...readLines(link)]).toThrow("ELOOP");
  expect(() => [...readLines(directory)]).toThrow("EISDIR");
  expect(() => [...readLines(join(directory, "none"))]).toThrow("ENOENT");
  expect([...readLines(pipe)]).toEqual([]);
});
