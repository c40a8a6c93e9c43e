import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DraftFile } from "../../src/infrastructure/fs/private-files.ts";
import { makeTempDir } from "../support/temp-dir.ts";

// Larger than any system gives out.
const DEAD = 4_194_305;

function setUp() {
  const state = makeTempDir();
  const directory = join(state, "diligent", "drafts");
  const draft = (processId: number, root = "/p", sessionId?: string) =>
    new DraftFile({ XDG_STATE_HOME: state }, { root, sessionId, processId });
  return { state, directory, draft, files: () => readdirSync(directory) };
}

test("a draft of an ended process is restored, and stays until it is sent", () => {
  const { draft, files, directory } = setUp();
  draft(DEAD).write("half a th");
  const next = draft(process.pid);
  expect(next.takeOver()).toBe("half a th");
  expect(files()).toEqual([expect.stringMatching(new RegExp(`^[0-9a-f]{16}-${process.pid}\\.txt$`))]);
  expect(readFileSync(join(directory, files()[0] ?? ""), "utf8")).toBe("half a th");
  next.remove();
  expect(files()).toEqual([]);
  expect(next.takeOver()).toBeUndefined();
});

test("a draft is private, and the last one written", () => {
  const { draft, directory, files } = setUp();
  draft(DEAD).write("one");
  draft(DEAD).write("two");
  expect(files()).toHaveLength(1);
  expect(statSync(join(directory, files()[0] ?? "")).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(draft(1).takeOver()).toBe("two");
});

test("the draft of a running process is not restored", () => {
  const { draft } = setUp();
  draft(process.pid).write("mine");
  expect(draft(process.ppid).takeOver()).toBeUndefined();
  expect(draft(process.pid).takeOver()).toBe("mine");
});

test("every project has its own", () => {
  const { draft } = setUp();
  draft(DEAD, "/a").write("in a");
  expect(draft(process.pid, "/b").takeOver()).toBeUndefined();
  expect(draft(process.pid, "/a").takeOver()).toBe("in a");
});

test("every session has its own, and so do new sessions", () => {
  const { draft } = setUp();
  draft(DEAD, "/p", "one").write("in one");
  expect(draft(process.pid, "/p", "two").takeOver()).toBeUndefined();
  expect(draft(process.pid).takeOver()).toBeUndefined();
  expect(draft(process.pid, "/p", "one").takeOver()).toBe("in one");
});

test("a draft that is being written is not mistaken for an abandoned one, and does not overwrite it", () => {
  const { draft } = setUp();
  draft(DEAD).write("left");
  const own = draft(process.pid);
  own.write("being written");
  expect(own.takeOver()).toBe("left");
  expect(own.takeOver()).toBeUndefined();
  expect(draft(process.pid).takeOver()).toBe("being written");
});

test("the newest of several is restored, and the next process gets the next", () => {
  const { draft, directory, files } = setUp();
  for (const [index, text] of ["old", "older"].entries()) {
    draft(DEAD + index).write(text);
    const name = files().find((each) => each.includes(`-${DEAD + index}.`)) ?? "";
    utimesSync(join(directory, name), new Date(), new Date(Date.now() - index * 60_000));
  }
  expect(draft(process.pid).takeOver()).toBe("old");
  expect(draft(process.ppid).takeOver()).toBe("older");
  expect(draft(1).takeOver()).toBeUndefined();
});

test("a blank text is not saved", () => {
  const { draft, files } = setUp();
  draft(DEAD).write("text");
  draft(DEAD).write(" \n");
  expect(files()).toEqual([]);
  expect(draft(process.pid).takeOver()).toBeUndefined();
});

test("a draft that was unused for a month is removed, other files stay", () => {
  const { draft, directory, files } = setUp();
  draft(DEAD, "/gone").write("forgotten");
  const name = files()[0] ?? "";
  utimesSync(join(directory, name), new Date(), new Date(Date.now() - 31 * 24 * 3_600_000));
  writeFileSync(join(directory, "notes.txt"), "not ours");
  expect(draft(process.pid).takeOver()).toBeUndefined();
  expect(files()).toEqual(["notes.txt"]);
});

test("without a directory nothing is saved and nothing fails", () => {
  const file = join(makeTempDir(), "file");
  writeFileSync(file, "");
  for (const environment of [{ HOME: "/" }, { XDG_STATE_HOME: file }]) {
    const draft = new DraftFile(environment, { root: "/p" });
    draft.write("text");
    expect(draft.takeOver()).toBeUndefined();
    draft.remove();
  }
});

test("obstacles in the directory cause no error", () => {
  const { draft, directory } = setUp();
  draft(DEAD).write("text");
  const name = readdirSync(directory)[0] ?? "";
  mkdirSync(join(directory, name.replace(String(DEAD), String(process.pid))));
  draft(process.pid).write("text");
  draft(process.pid).remove();
  expect(draft(process.pid).takeOver()).toBeUndefined();
});
