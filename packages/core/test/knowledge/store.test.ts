import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { MAX_KNOWLEDGE_BYTES } from "../../src/infrastructure/paths/knowledge.ts";
import { appendKnowledge, readKnowledge, removeKnowledge } from "../../src/knowledge/store.ts";
import { knowledgeFilePath } from "../../src/knowledge/types.ts";
import { failure } from "../support/file-workspace.ts";
import { knowledge } from "../support/knowledge-entry.ts";
import { makeTempDir } from "../support/temp-dir.ts";

/** The directory `.diligent/knowledge` of a project, with a file that holds `text` where one is given. */
function makeStore(text?: string): { path: string; file: string } {
  const path = join(makeTempDir(), ".diligent", "knowledge");
  const file = knowledgeFilePath(path);
  if (text !== undefined) {
    mkdirSync(path, { recursive: true });
    writeFileSync(file, text);
  }
  return { path, file };
}

async function readIds(path: string): Promise<string[]> {
  return (await readKnowledge(path)).map(({ id }) => id);
}

const line = (id: string) => `${JSON.stringify(knowledge(id))}\n`;

describe("appending", () => {
  test("followed by reading returns what was saved, one line each, in a private file and directory", async () => {
    const { path, file } = makeStore();
    const full = knowledge("aaaaaaaa", {
      sessionId: "20261121120000-abcdef",
      entryId: "12345678",
      content: "Uses Bun.\nAlways. 😀",
      confidence: 0.5,
      supersedes: "00000000",
      tags: ["bun"],
      files: [{ path: "src/a.ts", hash: "ff" }],
    });
    await appendKnowledge(path, full);
    await appendKnowledge(path, knowledge("bbbbbbbb"));
    expect(await readKnowledge(path)).toEqual([full, knowledge("bbbbbbbb")]);
    expect(readFileSync(file, "utf8")).toBe(`${JSON.stringify(full)}\n${line("bbbbbbbb")}`);
    expect([statSync(file).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test("never changes existing lines, and completes a last line without an end", async () => {
    const before = `${line("aaaaaaaa")}{"id":"torn`;
    const { path, file } = makeStore(before);
    await appendKnowledge(path, knowledge("bbbbbbbb"));
    expect(readFileSync(file, "utf8")).toBe(`${before}\n${line("bbbbbbbb")}`);
    expect(await readIds(path)).toEqual(["aaaaaaaa", "bbbbbbbb"]);
  });

  test("from several processes at the same time loses nothing", async () => {
    const { path } = makeStore();
    const ids = Array.from({ length: 50 }, (_, index) => `id${index}`);
    await Promise.all(ids.map((id) => appendKnowledge(path, knowledge(id))));
    expect((await readIds(path)).sort()).toEqual(ids.sort());
  });
});

describe("reading", () => {
  test("finds nothing without a directory or file, or in an empty file", async () => {
    const { path } = makeStore();
    expect(await readKnowledge(path)).toEqual([]);
    mkdirSync(path, { recursive: true });
    expect(await readKnowledge(path)).toEqual([]);
    writeFileSync(knowledgeFilePath(path), "");
    expect(await readKnowledge(path)).toEqual([]);
  });

  test("skips damaged lines", async () => {
    const damage = `\n{"id":\nnull\n42\n[]\n"text"\n{}\n\0\0\0\n\u{feff}x\n`;
    const { path } = makeStore(
      `${line("aaaaaaaa")}${damage}${line("bbbbbbbb")}${line("cccccccc").slice(0, 40)}`,
    );
    expect(await readIds(path)).toEqual(["aaaaaaaa", "bbbbbbbb"]);
  });

  test("finds an entry after zero bytes, and one with Windows line ends", async () => {
    const { path } = makeStore(`\0\0\0${line("aaaaaaaa")}${line("bbbbbbbb").replace("\n", "\r\n")}`);
    expect(await readIds(path)).toEqual(["aaaaaaaa", "bbbbbbbb"]);
  });

  test.each([
    { id: 5 },
    { id: "" },
    { timestamp: 5 },
    { type: "rumour" },
    { type: undefined },
    { content: undefined },
    { content: " \n" },
    { content: ["x"] },
    { confidence: "0.5" },
    { confidence: null },
    { sessionId: 5 },
    { entryId: {} },
    { supersedes: ["a"] },
    { tags: "a" },
    { tags: [5] },
    { files: [{ path: "a" }] },
    { removes: 5 },
  ])("skips an entry with the invalid field %p", async (wrong) => {
    const { path } = makeStore(
      `${JSON.stringify({ ...knowledge("aaaaaaaa"), ...wrong })}\n${line("bbbbbbbb")}`,
    );
    expect(await readIds(path)).toEqual(["bbbbbbbb"]);
  });

  test("keeps unknown fields, and limits a confidence to its range", async () => {
    const raw = { ...knowledge("aaaaaaaa"), confidence: 7, mood: { good: true } };
    const { path } = makeStore(
      `${JSON.stringify(raw)}\n${JSON.stringify({ ...raw, id: "b", confidence: -1 })}`,
    );
    expect<unknown>(await readKnowledge(path)).toEqual([
      { ...raw, confidence: 1 },
      { ...raw, id: "b", confidence: 0 },
    ]);
  });

  test("uses the last of several lines with one id", async () => {
    const { path } = makeStore(line("aaaaaaaa") + line("bbbbbbbb"));
    await appendKnowledge(path, knowledge("aaaaaaaa", { content: "Now this." }));
    expect((await readKnowledge(path)).map(({ content }) => content)).toEqual([
      "What bbbbbbbb says.",
      "Now this.",
    ]);
  });

  test("of a file beyond 32 MB reads the newest part", async () => {
    const { path, file } = makeStore(line("old00000"));
    const padding = JSON.stringify(knowledge("padding0", { content: "x".repeat(1024 * 1024) }));
    for (let megabyte = 0; megabyte <= MAX_KNOWLEDGE_BYTES / 1024 / 1024; megabyte++) {
      appendFileSync(file, `${padding}\n`);
    }
    appendFileSync(file, line("new00000"));
    expect(await readIds(path)).toEqual(["padding0", "new00000"]);
  });
});

describe("removing", () => {
  test("appends a line, and the entry's line stays", async () => {
    const { path, file } = makeStore(line("aaaaaaaa") + line("bbbbbbbb"));
    await removeKnowledge(path, ["aaaaaaaa", "unknown0"]);
    expect(await readIds(path)).toEqual(["bbbbbbbb"]);
    const text = readFileSync(file, "utf8");
    expect(text).toStartWith(line("aaaaaaaa") + line("bbbbbbbb"));
    const [removal] = text.trimEnd().split("\n").slice(2);
    expect(JSON.parse(removal ?? "")).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      removes: "aaaaaaaa",
    });
  });

  test("removes earlier lines of the entry, not later ones", async () => {
    const { path } = makeStore(line("aaaaaaaa"));
    await removeKnowledge(path, ["aaaaaaaa"]);
    await appendKnowledge(path, knowledge("aaaaaaaa"));
    expect(await readIds(path)).toEqual(["aaaaaaaa"]);
  });

  test("of an unknown entry writes nothing", async () => {
    const { path } = makeStore();
    await removeKnowledge(path, []);
    expect(() => statSync(path)).toThrow();
  });
});

describe("an unsafe location", () => {
  test("a directory that is a link is refused for reading and writing", async () => {
    const { path } = makeStore();
    const elsewhere = makeTempDir();
    writeFileSync(join(elsewhere, "knowledge.jsonl"), line("aaaaaaaa"));
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(elsewhere, path);
    const message = `${path} is a symbolic link; knowledge is only saved in a real directory`;
    expect(await failure(readKnowledge(path))).toBe(message);
    expect(await failure(appendKnowledge(path, knowledge("bbbbbbbb")))).toBe(message);
    expect(readFileSync(join(elsewhere, "knowledge.jsonl"), "utf8")).toBe(line("aaaaaaaa"));
  });

  test("a .diligent that is a link is refused too", async () => {
    const { path } = makeStore();
    const { path: theirs } = makeStore(line("aaaaaaaa"));
    symlinkSync(join(theirs, ".."), join(path, ".."));
    const message = `${join(path, "..")} is a symbolic link; knowledge is only saved in a real directory`;
    expect(await failure(readKnowledge(path))).toBe(message);
    expect(await failure(appendKnowledge(path, knowledge("bbbbbbbb")))).toBe(message);
  });

  test("a file in place of the directory is refused", async () => {
    const { path } = makeStore();
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, "");
    const message = `${path} is a file; knowledge needs a directory there`;
    expect(await failure(readKnowledge(path))).toBe(message);
    expect(await failure(appendKnowledge(path, knowledge("a")))).toBe(message);
  });

  test("a knowledge file that is a link, a directory or a pipe is refused", async () => {
    const { path, file } = makeStore(line("aaaaaaaa"));
    rmSync(file);
    symlinkSync(join(makeTempDir(), "other"), file);
    expect(await failure(readKnowledge(path))).toBe(`${file} is not read: it is a symbolic link`);
    expect(await failure(appendKnowledge(path, knowledge("a")))).toBe(`${file} is a symbolic link`);
    rmSync(file);
    Bun.spawnSync(["mkfifo", file]);
    expect(await failure(readKnowledge(path))).toBe(`${file} is not read: it is a named pipe`);
    expect(await failure(appendKnowledge(path, knowledge("a")))).toBe(`${file} is not a regular file`);
    rmSync(file);
    mkdirSync(file);
    expect(await failure(readKnowledge(path))).toBe(`${file} is not read: it is a directory`);
    expect(await failure(appendKnowledge(path, knowledge("a")))).toBe(`${file} is not a regular file`);
  });

  test("a file that all users may write to is not read", async () => {
    const { path, file } = makeStore(line("aaaaaaaa"));
    chmodSync(file, 0o666);
    expect(await failure(readKnowledge(path))).toBe(`${file} is not read: all users may write to it`);
  });
});
