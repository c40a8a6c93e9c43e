import { expect, test } from "bun:test";
import { appendFileSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JsonlWriter } from "../../src/infrastructure/fs/jsonl-writer.ts";
import { makeTempDir } from "../support/temp-dir.ts";

test("values are appended one per line to a file of mode 0600", () => {
  const path = join(makeTempDir(), "log.jsonl");
  const writer = new JsonlWriter(path);
  writer.append({ a: 1 });
  writer.append({ text: "two\nlines" });
  writer.sync();
  writer.close();
  expect(readFileSync(path, "utf8")).toBe('{"a":1}\n{"text":"two\\nlines"}\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("nothing is created before the first append", () => {
  const directory = makeTempDir();
  const writer = new JsonlWriter(join(directory, "log.jsonl"));
  writer.sync();
  writer.close();
  expect(statSync(join(directory, "log.jsonl"), { throwIfNoEntry: false })).toBeUndefined();
});

test("a file that was cut off in the middle of a line gets a newline first and loses nothing", () => {
  const path = join(makeTempDir(), "log.jsonl");
  writeFileSync(path, '{"a":1}\n{"b":');
  const writer = new JsonlWriter(path);
  writer.append({ c: 3 });
  writer.append({ d: 4 });
  writer.close();
  expect(readFileSync(path, "utf8")).toBe('{"a":1}\n{"b":\n{"c":3}\n{"d":4}\n');
});

test("two writers of one file keep each other's lines whole", () => {
  const path = join(makeTempDir(), "log.jsonl");
  const writers = [new JsonlWriter(path), new JsonlWriter(path)];
  for (let round = 0; round < 100; round++) {
    for (const [index, writer] of writers.entries()) writer.append({ index, round, text: "x".repeat(5_000) });
  }
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).round)).toEqual(
    Array.from({ length: 200 }, (_, index) => Math.floor(index / 2)),
  );
});

test("several values are several lines, and their number is returned", () => {
  const path = join(makeTempDir(), "log.jsonl");
  const writer = new JsonlWriter(path);
  expect([writer.append(1, 2), writer.append(3)]).toEqual([2, 1]);
  writer.close();
  expect(readFileSync(path, "utf8")).toBe("1\n2\n3\n");
});

test("a file that cannot be opened is an error that names it", () => {
  const path = join(makeTempDir(), "missing", "log.jsonl");
  expect(() => new JsonlWriter(path).append({})).toThrow(`${path}: it does not exist (ENOENT)`);
});

test("a link is not followed", () => {
  const directory = makeTempDir();
  writeFileSync(join(directory, "target"), "");
  symlinkSync("target", join(directory, "link"));
  expect(() => new JsonlWriter(join(directory, "link")).append({})).toThrow("ELOOP");
  expect(readFileSync(join(directory, "target"), "utf8")).toBe("");
});

test("lines of other writers are reported, without our own", () => {
  const path = join(makeTempDir(), "log.jsonl");
  writeFileSync(path, "1\n");
  const foreign: string[] = [];
  const writer = new JsonlWriter(path, { expectedSize: 2, onForeignWrite: (text) => foreign.push(text) });
  appendFileSync(path, "2\n");
  writer.append(3);
  writer.append(4);
  appendFileSync(path, "5\n6\n");
  writer.append(7);
  writer.append(8);
  writer.close();
  expect([readFileSync(path, "utf8"), foreign]).toEqual(["1\n2\n3\n4\n5\n6\n7\n8\n", ["2\n", "5\n6\n"]]);
});

test("a removed file is created again, empty", () => {
  const path = join(makeTempDir(), "log.jsonl");
  const writer = new JsonlWriter(path);
  writer.append(1);
  expect(writer.isEmpty()).toBe(false);
  rmSync(path);
  expect(writer.isEmpty()).toBe(true);
  writer.append(2);
  writer.close();
  expect(readFileSync(path, "utf8")).toBe("2\n");
});

test("a file can be appended to and closed during a background sync", async () => {
  const path = join(makeTempDir(), "log.jsonl");
  const writer = new JsonlWriter(path);
  writer.append({ a: 1 });
  const first = writer.syncInBackground();
  writer.append({ b: 2 });
  const second = writer.syncInBackground();
  writer.close();
  writer.append({ c: 3 });
  writer.sync();
  await Promise.all([first, second]);
  writer.close();
  expect(readFileSync(path, "utf8")).toBe('{"a":1}\n{"b":2}\n{"c":3}\n');
});

test("a failed sync, also in the background, is an error that names the file until a sync succeeds", async () => {
  const writer = new JsonlWriter("/dev/null");
  writer.append({ a: 1 });
  await expect(writer.syncInBackground()).rejects.toThrow("/dev/null");
  await expect(writer.syncInBackground()).rejects.toThrow("/dev/null");
  expect(() => writer.sync()).toThrow("/dev/null");
  writer.close();
});
