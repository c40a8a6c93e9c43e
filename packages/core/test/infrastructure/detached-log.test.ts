import { expect, test } from "bun:test";
import { closeSync, readdirSync, statSync, utimesSync, writeFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { startDetached } from "../../src/infrastructure/process/detached.ts";
import {
  listLogParts,
  openDetachedLog,
  readDetachedLog,
} from "../../src/infrastructure/process/detached-log.ts";
import { LoggedOutput } from "../../src/jobs/job-output.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const MEGABYTE = 1024 * 1024;

function textOf(path: string, from = 0): string {
  return [...readDetachedLog(path, from)].map(({ bytes }) => new TextDecoder().decode(bytes)).join("");
}

test("the output of a detached command is in its file at once, and complete at the end", async () => {
  const directory = makeTempDir();
  const { input, written } = openDetachedLog(join(directory, "a.log"));
  writeSync(input, "first\n");
  while (textOf(join(directory, "a.log")) === "") await Bun.sleep(1);
  writeSync(input, "second\n");
  closeSync(input);
  await written;
  expect(readdirSync(directory)).toEqual(["a.log"]);
  expect(textOf(join(directory, "a.log"))).toBe("first\nsecond\n");
  expect(textOf(join(directory, "a.log"), 6)).toBe("second\n");
  expect(statSync(join(directory, "a.log")).mode & 0o777).toBe(0o600);
});

test("of an output above the limit, a detached command's files keep the first and the last part", async () => {
  const path = join(makeTempDir(), "a.log");
  const { input, written } = openDetachedLog(path, 16 * MEGABYTE);
  const total = 60 * MEGABYTE;
  const line = (at: number) => `${String(at).padStart(15, "0")}\n`;
  for (let at = 0; at < total; at += MEGABYTE) {
    const lines = Array.from({ length: MEGABYTE / 16 }, (_, index) => line(at + index * 16)).join("");
    for (let rest = Buffer.from(lines); rest.length > 0; ) rest = rest.subarray(writeSync(input, rest));
  }
  closeSync(input);
  await written;
  const parts = listLogParts(path);
  const kept = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(kept).toBeLessThanOrEqual(16 * MEGABYTE);
  expect(kept).toBeGreaterThanOrEqual(9 * MEGABYTE);
  for (const { bytes, at } of readDetachedLog(path, 0)) {
    const text = new TextDecoder().decode(bytes);
    const first = text.indexOf("\n") + 1;
    expect(text.slice(first, first + 16)).toBe(line(at + first));
  }
  const output = new LoggedOutput(path);
  expect([output.totalBytes, output.lastLine()]).toEqual([total, line(total - 16).trim()]);
  expect(output.shortfall).toMatch(/^without \d+ MB from its middle/);
  output.remove();
  expect(listLogParts(path)).toEqual([]);
});

test("starting a detached command removes the outputs of 30 days and more, with all their files", async () => {
  const directory = makeTempDir();
  const days = (count: number) => new Date(Date.now() - count * 24 * 60 * 60 * 1000);
  const files = { "a.log": 31, "a.log.50": 40, "b.log": 40, "b.log.50": 1, "other.txt": 90 };
  for (const [name, age] of Object.entries(files)) {
    writeFileSync(join(directory, name), "x");
    utimesSync(join(directory, name), days(age), days(age));
  }
  const { rest, path } = startDetached({
    argv: ["/bin/true"],
    cwd: directory,
    environment: {},
    directory,
    name: "job",
  });
  await rest.ended;
  expect(readdirSync(directory).sort()).toEqual(["b.log", "b.log.50", basename(path), "other.txt"]);
});

test("a detached command's output is complete when it has ended, its exit code known", async () => {
  const directory = makeTempDir();
  const { rest, path } = startDetached({
    argv: ["/bin/sh", "-c", "echo out; echo err >&2; exit 3"],
    cwd: directory,
    environment: { PATH: "/usr/bin:/bin" },
    directory,
    name: "job",
  });
  expect(await rest.exited).toEqual({ exitCode: 3, signal: null });
  await rest.ended;
  expect(textOf(path)).toBe("out\nerr\n");
});
