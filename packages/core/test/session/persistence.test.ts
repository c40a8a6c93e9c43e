import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  appendEntry,
  createSessionFile,
  DeferredWriter,
  readSessionFile,
} from "../../src/session/persistence.ts";
import { assistant, text } from "../support/messages.ts";
import {
  chain,
  entry,
  header,
  readJsonLines,
  toLines,
  writeSession,
  writeSessionFile,
} from "../support/session-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const ANSWER = entry("00000002", "00000001", assistant([text("hi")]));
const QUESTION = entry("00000001", null, "hello");

describe("a session file", () => {
  test("begins with its header, is named after its id, and is the user's alone", async () => {
    const directory = makeTempDir();
    const { path, header: written } = await createSessionFile(directory, "/work", "20260101000000-000000");
    expect(path).toBe(join(directory, `${written.id}.jsonl`));
    expect(readFileSync(path, "utf8")).toBe(`${JSON.stringify(written)}\n`);
    expect(written).toEqual(
      header({
        id: expect.stringMatching(/^\d{14}-[0-9a-f]{6}$/),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        parentSession: "20260101000000-000000",
      }),
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("an entry that is added leaves every byte before it as it was", async () => {
    const { path } = await createSessionFile(makeTempDir(), "/work");
    const before = readFileSync(path, "utf8");
    await appendEntry(path, QUESTION);
    await appendEntry(path, ANSWER);
    expect(readFileSync(path, "utf8")).toBe(before + toLines([QUESTION, ANSWER]));
  });

  test("what was written is read back", async () => {
    const entries = chain(5);
    const path = writeSession(entries, { parentSession: "x" });
    expect(readSessionFile(path)).toEqual({
      path,
      header: header({ parentSession: "x" }),
      entries,
      skippedLines: 0,
      size: statSync(path).size,
    });
  });

  test("an entry of an unknown type is written back as it was read", async () => {
    const raw = { type: "hologram", id: "00000003", parentId: "00000002", timestamp: "t", data: { a: [1] } };
    const path = writeSessionFile(toLines([header(), QUESTION, ANSWER, raw]));
    const copy = writeSessionFile("");
    for (const each of readSessionFile(path).entries) await appendEntry(copy, each);
    expect(readJsonLines(copy)).toEqual([QUESTION, ANSWER, raw]);
  });

  test("one of version 1 opens unchanged", () => {
    const path = writeSession(chain(2), { version: 1 });
    const before = readFileSync(path);
    expect(readSessionFile(path)).toMatchObject({
      header: { version: 1 },
      entries: chain(2),
      skippedLines: 0,
    });
    expect(readFileSync(path)).toEqual(before);
  });

  test.each([["../../evil"], ["a\0b"], ["\x1b[31m"], [""], ["x".repeat(200)], [7], [null]])(
    "an id that is none, %p, is replaced by the file's name",
    (id) => {
      const path = writeSessionFile(toLines([{ ...header(), id }, QUESTION]), "20260101000000-abcdef.jsonl");
      expect(readSessionFile(path).header.id).toBe("20260101000000-abcdef");
    },
  );

  test.each([
    ["3", { ...header(), version: 3 }],
    ["7", { type: "session", version: 7, somethingNew: true }],
    ["3.0-beta", { ...header(), version: "3.0-beta" }],
  ])("one of version %s is refused with both versions, and not touched", (version, first) => {
    const path = writeSessionFile(toLines([first, ...chain(2)]));
    const before = readFileSync(path);
    expect(() => readSessionFile(path)).toThrow(
      `${path} has version ${version} of the session format, and this diligent reads up to 2. Update diligent.`,
    );
    expect(readFileSync(path)).toEqual(before);
  });

  test.each([
    ["an empty file", ""],
    ["a text", "hello\nworld\n"],
    ["JSON lines of another kind", '{"level":"info"}\n'.repeat(200)],
    ["zeros", "\0".repeat(5000)],
  ])("%s is not a session file", (_, content) => {
    const path = writeSessionFile(content);
    expect(() => readSessionFile(path)).toThrow(`${path} is not a session file`);
  });
});

describe("the deferred writer", () => {
  test("writes nothing before the first answer, then everything", () => {
    const directory = makeTempDir();
    const writer = new DeferredWriter(directory, "/work");
    writer.write(QUESTION);
    expect([readdirSync(directory), writer.isFlushed, writer.path]).toEqual([[], false, null]);
    writer.write(ANSWER);
    const [name = ""] = readdirSync(directory);
    expect([writer.isFlushed, writer.path]).toEqual([true, join(directory, name)]);
    expect(readSessionFile(join(directory, name)).entries).toEqual([QUESTION, ANSWER]);
    writer.close();
  });

  test("writes what waits when it is flushed, and each further entry at once", () => {
    const directory = makeTempDir();
    const writer = new DeferredWriter(directory, "/work", { header: header() });
    writer.write(QUESTION);
    const path = writer.flush() ?? "";
    expect(path).toBe(join(directory, `${header().id}.jsonl`));
    writer.write(entry("00000003", "00000001"));
    expect(readJsonLines(path)).toEqual([header(), QUESTION, entry("00000003", "00000001")]);
    writer.close();
  });

  test("on a file that was read it continues after the existing entries", () => {
    const path = writeSession([QUESTION]);
    const writer = new DeferredWriter("/nowhere", "/work", { file: readSessionFile(path) });
    writer.write(entry("00000003", "00000001"));
    writer.close();
    expect(readJsonLines(path)).toEqual([header(), QUESTION, entry("00000003", "00000001")]);
  });

  test("an error is told once, and what waits is written once it works again", () => {
    const directory = join(makeTempDir(), "sessions");
    writeFileSync(directory, "in the way");
    const errors: string[] = [];
    const writer = new DeferredWriter(directory, "/work", {
      header: header(),
      onFailure: ({ message }) => errors.push(message),
    });
    writer.write(ANSWER);
    writer.write(QUESTION);
    const path = join(directory, `${header().id}.jsonl`);
    expect(errors).toEqual([`${path}: a part of its path is a file, not a directory (ENOTDIR)`]);
    expect(writer.path).toBeNull();
    rmSync(directory);
    mkdirSync(directory);
    writer.write(entry("00000004", "00000001"));
    expect(readJsonLines(path)).toEqual([header(), ANSWER, QUESTION, entry("00000004", "00000001")]);
    writer.close();
    expect(errors).toHaveLength(1);
  });

  test("without anybody to tell, the error is thrown", () => {
    const writer = new DeferredWriter("/dev/null", "/work");
    expect(() => writer.write(ANSWER)).toThrow("/dev/null/");
  });
});

describe("a session file that is removed while it is open", () => {
  function openWriter() {
    const directory = join(makeTempDir(), "sessions");
    mkdirSync(directory);
    const told: string[] = [];
    const writer = new DeferredWriter(directory, "/work", {
      header: header(),
      onFailure: ({ message }) => told.push(message),
      onRestored: () => told.push("restored"),
      restoreDirectory: () => mkdirSync(directory),
    });
    writer.write(QUESTION);
    writer.write(ANSWER);
    return { writer, directory, told, path: join(directory, `${header().id}.jsonl`) };
  }
  const EXPECTED = [header(), QUESTION, ANSWER, entry("00000003", "00000002")];

  test("is recreated, and this is reported", () => {
    const { writer, path, told } = openWriter();
    rmSync(path);
    writer.write(entry("00000003", "00000002"));
    expect([readJsonLines(path), told]).toEqual([EXPECTED, ["restored"]]);
    writer.close();
  });

  test("also with its directory", () => {
    const { writer, path, directory, told } = openWriter();
    rmSync(directory, { recursive: true });
    writer.write(entry("00000003", "00000002"));
    expect([readJsonLines(path), told]).toEqual([EXPECTED, ["restored"]]);
    writer.close();
  });

  test("also when it was removed between being read and being added to", () => {
    const path = writeSession([QUESTION, ANSWER]);
    const writer = new DeferredWriter("/nowhere", "/work", { file: readSessionFile(path) });
    rmSync(path);
    writer.write(entry("00000003", "00000002"));
    writer.close();
    expect(readJsonLines(path)).toEqual(EXPECTED);
    expect(existsSync(path)).toBe(true);
  });
});
