import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OutputFile } from "../../src/infrastructure/process/output-file.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function create(maxBytes?: number): OutputFile {
  const file = OutputFile.create(makeTempDir(), "call_1", maxBytes);
  if (file === undefined) throw new Error("There is no file.");
  return file;
}

function readAll(file: OutputFile, from = 0): string {
  let text = "";
  for (const { bytes } of file.read(from)) text += Buffer.from(bytes).toString();
  return text;
}

describe("the file of an output", () => {
  test("holds all of it below the limit, while it is written and after", () => {
    const file = create(1_000);
    for (const text of ["one\n", "two\n"]) file.write(Buffer.from(text));
    expect([readAll(file), readAll(file, 4), file.shortfall]).toEqual(["one\ntwo\n", "two\n", undefined]);
    file.close();
    expect([readFileSync(file.path, "utf8"), readAll(file, 4), file.totalBytes]).toEqual([
      "one\ntwo\n",
      "two\n",
      8,
    ]);
  });

  test.each([1, 7, 64, 5_000])("keeps its first and last part beyond it, in chunks of %d bytes", (size) => {
    const whole = Buffer.from(Array.from({ length: 1_000 }, (_, index) => `${index} `).join(""));
    const file = create(400);
    for (let at = 0; at < whole.length; at += size) file.write(whole.subarray(at, at + size));
    const kept = readAll(file);
    expect(kept.length).toBe(whole.length - file.omittedBytes);
    expect(kept.length).toBeWithin(250, 401);
    expect([kept.slice(0, 200), kept.slice(200)]).toEqual([
      whole.toString().slice(0, 200),
      whole.toString().slice(200 + file.omittedBytes),
    ]);
    const tail = readAll(file, whole.length - 50);
    file.close();
    expect([tail, readAll(file), readAll(file, whole.length - 50)]).toEqual([
      whole.toString().slice(-50),
      kept,
      whole.toString().slice(-50),
    ]);
    const mark = `\n[${file.omittedBytes} bytes left out here]\n`;
    expect(readFileSync(file.path, "utf8")).toBe(kept.slice(0, 200) + mark + kept.slice(200));
    expect(readdirSync(join(file.path, ".."))).toHaveLength(1);
  });

  test("says what is missing", () => {
    const file = create(8 * 1024 * 1024);
    for (let count = 0; count < 20; count++) file.write(Buffer.alloc(1024 * 1024));
    file.close();
    expect(file.shortfall).toBe(`without ${file.omittedBytes / 1024 / 1024} MB from its middle`);
  });

  test("has a safe name of its own", () => {
    const directory = makeTempDir();
    for (const name of ["../../etc/x", "../../etc/x"]) OutputFile.create(directory, name)?.close();
    expect(readdirSync(directory).length).toBe(2);
    for (const name of readdirSync(directory)) expect(name).toMatch(/^______etc_x-[0-9a-f]{8}\.txt$/);
  });

  test("is not there where none can be made, and not after it was removed", () => {
    expect(OutputFile.create(join(makeTempDir(), "gone"), "call_1")).toBeUndefined();
    const file = create(100);
    for (let count = 0; count < 9; count++) file.write(Buffer.alloc(30));
    file.remove();
    expect([existsSync(file.path), readdirSync(join(file.path, ".."))]).toEqual([false, []]);
  });
});
