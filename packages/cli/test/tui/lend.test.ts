// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type PtyProgram, startInPty } from "../support/pty-program.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("script.json", {
    version: 1,
    turns: [{ text: "I look.", toolCalls: [{ name: "ls", input: {} }] }, { text: "There it is." }],
  });
});

afterEach(() => place.remove());

async function startWithResult(environment: Record<string, string>): Promise<PtyProgram> {
  const program = startInPty(place, ["--model", "scripted/script.json", "look"], { environment });
  await program.waitFor("There it is.");
  await program.waitUntil((_, { title }) => title === "diligent – project");
  await program.settle();
  return program;
}

/** The rows that only the live region can contain. */
const liveRows = (rows: readonly string[]) =>
  rows.filter((row) => /^(>|(scripted\/)?script\.json ·)/.test(row));

test.each([
  ["the pager", "\x0f", { PAGER: "sh -c 'cat >/dev/null; echo paged; sleep 0.1'" }, "paged"],
  ["the editor", "\x07", { EDITOR: "sh -c 'echo edited; sleep 0.1' x" }, "edited"],
])("no part of the live region is left above the output of %s", async (_, key, environment, shown) => {
  await using program = await startWithResult(environment);
  program.send("half a prompt");
  const before = liveRows(await program.waitFor("> half a prompt"));
  const rowsAbove = (await program.scrollback()).length - before.length;
  for (let times = 1; times <= 2; times++) {
    program.send(key);
    await program.waitUntil((rows) => rows.filter((row) => row === shown).length === times);
    await program.waitUntil((rows) => liveRows(rows).length === before.length);
    await program.settle();
    const rows = await program.scrollback();
    expect(liveRows(rows)).toEqual(before);
    expect(rows.length).toBe(rowsAbove + times + before.length);
  }
  expect(program.bytes).not.toMatch(/\u001b\[[23]J/);
});

test("the pager has the title and the focus while it has the terminal, and we have them again afterwards", async () => {
  await using program = await startWithResult({
    PAGER: "sh -c 'cat >/dev/null; printf \"\\033]0;pager\\007\"; sleep 0.3'",
  });
  program.send("\x0f");
  await program.waitUntil((_, { title, modes }) => title === "pager" && !modes.sendFocusMode);
  await program.waitUntil((_, { title, modes }) => title === "diligent – project" && modes.sendFocusMode);
});

test("a region that was resized while the pager had the terminal is drawn once, below", async () => {
  await using program = await startWithResult({ PAGER: "sh -c 'cat >/dev/null; echo paged; sleep 0.5'" });
  program.send("\x0f");
  await program.waitFor("paged");
  await program.resize(50, 20);
  await program.waitFor(/paged[\s\S]*script.json ·/);
  await program.settle();
  expect(liveRows(await program.scrollback())).toEqual([
    "> look",
    ">",
    expect.stringContaining("script.json ·"),
  ]);
});
