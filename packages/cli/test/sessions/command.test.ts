import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { runDiligent } from "../support/run-diligent.ts";
import { runInTerminal } from "../support/run-in-terminal.ts";
import { writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let path: string;

beforeEach(() => {
  place = createTemporaryProject();
  path = writeSession(place, {
    id: "20260225103000-abcdef",
    modified: "2026-02-25T15:30:00.000Z",
    texts: ["find all\nTODO comments", "There are \x1b[31mnone."],
  });
});

afterEach(() => place.remove());

async function sessions(...args: string[]) {
  const environment = { TZ: "America/New_York" };
  const { stdout, stderr, exitCode } = await runDiligent(place, ["sessions", ...args], { environment });
  return { stdout, stderr, exitCode };
}

const LIST = "Sessions:\n  1. [2026-02-25 10:30] find all TODO comments (2 messages)\n";

test("sessions list prints the same as --list", async () => {
  expect(await sessions()).toEqual({ stdout: LIST, stderr: "", exitCode: 0 });
  expect(await sessions("list")).toEqual({ stdout: LIST, stderr: "", exitCode: 0 });
  expect(JSON.parse((await sessions("--json")).stdout)).toMatchObject([{ id: "20260225103000-abcdef" }]);
});

test("sessions show prints a conversation, made safe for the terminal", async () => {
  const { stdout, exitCode } = await sessions("show", "1");
  expect([stdout, exitCode]).toEqual([
    `Session 20260225103000-abcdef of 2026-02-25 10:30 in ${place.project}\n\n` +
      "> find all\n> TODO comments\n\nThere are \\x1b[31mnone.\n",
    0,
  ]);
  const shown = JSON.parse((await sessions("show", "20260225", "--json")).stdout);
  expect(shown).toMatchObject({ header: { id: "20260225103000-abcdef" }, messages: [{ role: "user" }, {}] });
});

test("sessions name accepts several words, and the file only grows", async () => {
  const before = readFileSync(path, "utf8");
  expect((await sessions("name", "1", "my", "best", "work")).stdout).toBe(
    "20260225103000-abcdef renamed to my best work\n",
  );
  expect((await sessions()).stdout).toContain("] my best work (2 messages)\n");
  expect(readFileSync(path, "utf8")).toStartWith(before);
});

describe("sessions rm", () => {
  const WHAT = "session 20260225103000-abcdef of 2026-02-25 10:30: find all TODO comments (2 messages)";

  test("deletes at once with --yes", async () => {
    const { stdout, exitCode } = await sessions("rm", "1", "--yes");
    expect([stdout, exitCode, existsSync(path)]).toEqual([`Deleted ${WHAT}\n`, 0, false]);
  });

  test("deletes nothing without a user to confirm", async () => {
    const { stderr, exitCode } = await sessions("rm", "1");
    expect([exitCode, existsSync(path)]).toEqual([2, true]);
    expect(stderr).toContain("--yes");
  });

  test.each([
    ["y", false],
    ["yes", false],
    ["", true],
    ["n", true],
    ["yikes", true],
  ])("asks and, for the answer %p, keeps the session: %p", async (answer, stays) => {
    const program = runInTerminal(place, ["sessions", "rm", "1"]);
    await program.shown("This cannot be undone. [y/N] ");
    program.type(`${answer}\r`);
    await program.shown(stays ? "Nothing deleted." : "Deleted session");
    expect([await program.exitCode, existsSync(path)]).toEqual([0, stays]);
  });
});

test.each([
  [["shwo"], "sessions: unknown action shwo (did you mean show?)"],
  [["show"], "sessions show needs a REF, such as 1 (see diligent --list)"],
  [["name", "1"], "sessions name 20260225103000-abcdef needs a name"],
  [["rm", "2"], "no session 2; there are: 20260225103000-abcdef"],
  [["rm", "1", "--yse"], "sessions: unknown option --yse (did you mean --yes?)"],
  [["rm", "1", "--yes=no"], "sessions: --yes takes no value"],
])("sessions refuses %p on one line and does nothing", async (args, line) => {
  const { stdout, stderr, exitCode } = await sessions(...args);
  expect([stdout, exitCode]).toEqual(["", 2]);
  expect(stderr).toStartWith(`diligent: ${line}`);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(existsSync(path)).toBe(true);
});

test("sessions refuses a session of a newer version by name and leaves it untouched", async () => {
  const newer = writeSession(place, {
    id: "20300101000000-abcdef",
    modified: "2030-01-01T00:00:00.000Z",
    texts: ["x"],
    version: 3,
  });
  const before = readFileSync(newer);
  for (const args of [
    ["show", "20300101"],
    ["name", "20300101", "x"],
    ["rm", "20300101000000-abcdef", "--yes"],
  ]) {
    const { stderr, exitCode } = await sessions(...args);
    expect([stderr, exitCode]).toEqual([expect.stringMatching(/version 3 .* reads up to 2/), 2]);
  }
  expect(readFileSync(newer)).toEqual(before);
});

test("sessions --help explains itself", async () => {
  const { stdout, exitCode } = await sessions("--help");
  expect([stdout.split("\n")[0], exitCode]).toEqual([
    "diligent sessions: find, show, name, archive and delete this project's sessions",
    0,
  ]);
});
