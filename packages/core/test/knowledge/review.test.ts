import { beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { recordKnowledge } from "../../src/knowledge/record.ts";
import { editKnowledge, keepKnowledge, listReviewItems } from "../../src/knowledge/review.ts";
import { createStaleCheck } from "../../src/knowledge/stale-files.ts";
import { appendKnowledge, readKnowledge } from "../../src/knowledge/store.ts";
import type { KnowledgeEntry } from "../../src/knowledge/types.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { knowledge } from "../support/knowledge-entry.ts";
import { makeTempDir } from "../support/temp-dir.ts";

let root: string;
let path: string;

beforeEach(() => {
  root = join(makeTempDir(), "project");
  path = join(root, ".diligent", "knowledge");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(join(root, "a.ts"), "one");
});

async function record(content: string): Promise<KnowledgeEntry> {
  const draft = { type: "pattern" as const, content, confidence: 0.8 };
  return (await recordKnowledge(path, draft, { sessionId: "s", entryId: "e", root })).entry;
}

const waiting = async () =>
  listReviewItems(await readKnowledge(path), root).map((item) =>
    item.kind === "contradiction" ? [item.kind, item.entry.id, item.other.id] : [item.kind, item.entry.id],
  );

test("contradictions come first, then entries whose files have changed, then new ones", async () => {
  const about = await record("Everything about it is in a.ts as we know.");
  const left = await record("The API listens on port 8080.");
  const right = await record("The API listens on port 9090.");
  const fresh = await record("Deployments need a signed tag.");
  writeFileSync(join(root, "a.ts"), "two");
  expect(await waiting()).toEqual([
    ["contradiction", right.id, left.id],
    ["stale", about.id],
    ["new", fresh.id],
  ]);
});

test("what is kept waits no longer, and an entry with a changed file counts as right for the new content", async () => {
  const entry = await record("Everything about it is in a.ts as we know.");
  writeFileSync(join(root, "a.ts"), "two");
  await keepKnowledge([entry.id], { path, root });
  const [kept] = await readKnowledge(path);
  expect(kept).toMatchObject({
    ...entry,
    files: [{ path: "a.ts", hash: Bun.SHA256.hash("two", "hex") }],
    reviewed: expect.any(String),
  });
  expect(await waiting()).toEqual([]);
  writeFileSync(join(root, "a.ts"), "three");
  expect(createStaleCheck(root)(kept ?? entry)).toBe("a.ts");
  expect(await waiting()).toEqual([["stale", entry.id]]);
  rmSync(join(root, "a.ts"));
  await keepKnowledge([entry.id], { path, root });
  expect((await readKnowledge(path))[0]).not.toHaveProperty("files");
  expect(await waiting()).toEqual([]);
});

test("two entries that are kept together do not contradict each other, and one that is edited replaces its text", async () => {
  const left = await record("The API listens on port 8080.");
  const right = await record("The API listens on port 9090.");
  await keepKnowledge([left.id, right.id], { path, root });
  expect(await waiting()).toEqual([]);
  const edited = await editKnowledge(right.id, "The tests listen on port 9090, see a.ts.", { path, root });
  expect(edited).toMatchObject({ supersedes: right.id, files: [{ path: "a.ts" }], confidence: 0.8 });
  expect(await waiting()).toEqual([]);
  expect(await editKnowledge(right.id, "again", { path, root })).toBeUndefined();
  await expect(editKnowledge(left.id, "  ", { path, root })).rejects.toThrow("no visible text");
  await expect(
    editKnowledge(left.id, "The tests listen on port 9090, see a.ts.", { path, root }),
  ).rejects.toThrow(`Entry ${edited?.id} says the same`);
});

test("an edited entry keeps where it was learned and its files as they are now, and adds those that the text names", async () => {
  const entry = await record("Everything about it is in a.ts as we know.");
  writeFileSync(join(root, "a.ts"), "two");
  writeFileSync(join(root, "b.ts"), "more");
  const edited = await editKnowledge(entry.id, "The rest of it is in b.ts.", { path, root });
  expect(edited).toMatchObject({
    ...{ sessionId: "s", entryId: "e", supersedes: entry.id },
    files: [
      { path: "b.ts", hash: Bun.SHA256.hash("more", "hex") },
      { path: "a.ts", hash: Bun.SHA256.hash("two", "hex") },
    ],
  });
  expect(await waiting()).toEqual([]);
  rmSync(join(root, "b.ts"));
  expect(await editKnowledge(edited?.id ?? "", "It is simple.", { path, root })).toMatchObject({
    files: [{ path: "a.ts" }],
  });
});

test("entries of an older version and lines with damaged marks of a review are kept, and nothing of the file is lost", async () => {
  const file = join(path, "knowledge.jsonl");
  await appendKnowledge(path, knowledge("old00000", { content: "An old entry." }));
  const damaged = { ...knowledge("bad00000", { content: "A damaged mark." }), reviewed: 5, keptWith: "x" };
  appendFileSync(file, `${JSON.stringify(damaged)}\n{"id": "torn`);
  appendFileSync(file, `\n${"x".repeat(100_000)}\n[[[[[[[[\n\0\0\0\n`);
  const before = readFileSync(file, "utf8");
  expect(await waiting()).toEqual([
    ["new", "bad00000"],
    ["new", "old00000"],
  ]);
  await keepKnowledge(["old00000", "unknown"], { path, root });
  expect(await waiting()).toEqual([["new", "bad00000"]]);
  expect(readFileSync(file, "utf8")).toStartWith(before);
});

test("files of 1 GB, links out of the project, loops, and files that are gone are checked without harm", async () => {
  writeFileSync(join(root, "huge.bin"), "");
  truncateSync(join(root, "huge.bin"), 1024 ** 3);
  symlinkSync("/etc/hostname", join(root, "out.txt"));
  symlinkSync("loop.txt", join(root, "loop.txt"));
  const begin = performance.now();
  const entry = await record("The data lies in huge.bin and out.txt and loop.txt and gone.txt always.");
  expect(entry.files?.map((file) => file.path)).toEqual(["huge.bin"]);
  expect(createStaleCheck(root)({ ...entry, timestamp: "2020-01-01T00:00:00.000Z" })).toBeUndefined();
  expect(performance.now() - begin).toBeLessThan(1_000 + BUSY_MS);
  truncateSync(join(root, "huge.bin"), 1024 ** 3 + 1);
  expect(createStaleCheck(root)(entry)).toBe("huge.bin");
  const foreign = {
    ...entry,
    files: ["../x", "/etc/passwd", "out.txt", "loop.txt"].map((each) => ({ path: each, hash: "0" })),
  };
  expect(createStaleCheck(root)(foreign)).toBeUndefined();
});
