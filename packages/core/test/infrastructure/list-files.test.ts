import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "../../src/infrastructure/process/ripgrep.ts";
import { makeTempDir } from "../support/temp-dir.ts";

function listIn(directory: string, { maxFiles = 100, signal = new AbortController().signal } = {}) {
  return listFiles({ directory, root: directory, environment: process.env, maxFiles, signal });
}

function makeFiles(...names: string[]): string {
  const directory = makeTempDir();
  for (const name of names) {
    mkdirSync(join(directory, name, ".."), { recursive: true });
    writeFileSync(join(directory, name), "");
  }
  return directory;
}

test("files of all depths are listed, hidden and ignored ones are not", async () => {
  const directory = makeFiles("a.ts", "deep/er/b.ts", ".env", ".git/config", "out/c.js");
  writeFileSync(join(directory, ".gitignore"), "out/\n");
  expect((await listIn(directory)).toSorted()).toEqual(["a.ts", "deep/er/b.ts"]);
});

test("names that are not one line of valid text are left out", async () => {
  const directory = makeFiles("a.ts", "b\nc.ts", "d\x1b[31m.ts");
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff, 0x2e, 0x74])]), "");
  expect(await listIn(directory)).toEqual(["a.ts"]);
});

test("no more than the requested number are listed", async () => {
  const directory = makeFiles(...Array.from({ length: 30 }, (_, index) => `${index}.ts`));
  expect(await listIn(directory, { maxFiles: 10 })).toHaveLength(10);
});

test("an empty directory has no files, a missing one is an error", async () => {
  expect(await listIn(makeTempDir())).toEqual([]);
  await expect(listIn("/nonexistent-directory")).rejects.toThrow();
});

test("a stopped listing is an error", async () => {
  await expect(listIn(makeFiles("a.ts"), { signal: AbortSignal.abort() })).rejects.toThrow();
});
