import { afterEach, beforeEach, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GOOD_SUMMARY } from "../../../core/test/support/summaries.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { savedLines } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

test("a summary lists a modified file once, however the calls named it", async () => {
  const text = place.write("a.txt", "one\n");
  place.write("only-read.txt", "two\n");
  writeFileSync(join(place.home, "notes.txt"), "three\n");
  const edit = (file_path: string, old_string: string) => ({
    name: "edit",
    input: { file_path, old_string, new_string: "changed" },
  });
  const read = (file_path: string) => ({ name: "read", input: { file_path } });
  place.write("script.json", {
    version: 1,
    turns: [
      { toolCalls: [read(text), read("~/notes.txt"), read(join(place.project, "only-read.txt"))] },
      { toolCalls: [edit("./a.txt", "one"), edit(join(place.home, "notes.txt"), "three")] },
      { text: "Done." },
      { text: "You are welcome. ".repeat(400) },
    ],
    summaries: [{ text: GOOD_SUMMARY }],
  });
  const model = ["-m", "scripted/script.json"];
  for (const args of [
    ["-p", "Change both."],
    ["-c", "-p", "Thanks."],
  ])
    expect((await runDiligent(place, [...model, "--approval", "auto", ...args])).exitCode).toBe(0);
  const { exitCode } = await runDiligent(place, ["sessions", "compact", "1", ...model]);
  expect(exitCode).toBe(0);
  expect(savedLines(place).at(-1)).toMatchObject({
    type: "compaction",
    details: { readFiles: ["only-read.txt"], modifiedFiles: [join(place.home, "notes.txt"), "a.txt"] },
  });
});

test("a summary lists no file as read that was modified or read through a link", async () => {
  for (const name of ["read-by-link.txt", "changed-by-link.txt", "only-read.txt"]) place.write(name, "one\n");
  for (const name of ["read-by-link", "changed-by-link", "only-read"])
    symlinkSync(`${name}.txt`, join(place.project, `${name}.link`));
  const call = (name: string, input: object) => ({ name, input });
  const read = (file_path: string) => call("read", { file_path });
  const change = { old_string: "one", new_string: "two" };
  place.write("script.json", {
    version: 1,
    turns: [
      { toolCalls: ["read-by-link.link", "changed-by-link.txt", "only-read.link"].map(read) },
      {
        toolCalls: [
          call("edit", { file_path: "read-by-link.txt", ...change }),
          call("edit", { file_path: "changed-by-link.link", ...change }),
        ],
      },
      { text: "Done." },
      { text: "You are welcome. ".repeat(400) },
    ],
    summaries: [{ text: GOOD_SUMMARY }],
  });
  const model = ["-m", "scripted/script.json"];
  for (const args of [
    ["-p", "Change both."],
    ["-c", "-p", "Thanks."],
  ])
    expect((await runDiligent(place, [...model, ...args])).exitCode).toBe(0);
  expect((await runDiligent(place, ["sessions", "compact", "1", ...model])).exitCode).toBe(0);
  expect(savedLines(place).at(-1)).toMatchObject({
    type: "compaction",
    details: {
      readFiles: ["only-read.link"],
      modifiedFiles: ["changed-by-link.link", "read-by-link.txt"],
    },
  });
});
