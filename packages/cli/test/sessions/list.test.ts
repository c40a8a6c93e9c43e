import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runDiligent } from "../support/run-diligent.ts";
import { writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

async function list(...args: string[]) {
  const environment = { TZ: "America/New_York" };
  const { stdout, stderr, exitCode } = await runDiligent(place, ["--list", ...args], { environment });
  expect([stderr, exitCode]).toEqual(["", 0]);
  return stdout;
}

describe("--list", () => {
  test("shows number, local time of the last change, first prompt and count, the most recently changed first", async () => {
    const texts = ["refactor config module", ...Array.from({ length: 11 }, (_, index) => `text ${index}`)];
    writeSession(place, { id: "20260225091500-abcdef", modified: "2026-02-25T14:15:00.000Z", texts });
    writeSession(place, {
      id: "20260225103000-abcdef",
      modified: "2026-02-25T15:30:59.999Z",
      texts: ["find all TODO comments", "b", "c", "d", "e", "f", "g", "h"],
    });
    expect(await list()).toBe(
      "Sessions:\n" +
        "  1. [2026-02-25 10:30] find all TODO comments (8 messages)\n" +
        "  2. [2026-02-25 09:15] refactor config module (12 messages)\n",
    );
  });

  test("says so if there is no session, even without a project directory", async () => {
    expect(await list()).toBe("No sessions found.\n");
    mkdirSync(join(place.project, ".diligent"));
    expect(await list()).toBe("No sessions found.\n");
    expect(await list("--json")).toBe("[]\n");
  });

  test("aligns numbers of several digits to the right", async () => {
    for (let minute = 0; minute < 10; minute++) {
      const modified = `2026-07-01T12:0${minute}:00.000Z`;
      writeSession(place, { id: `2026070112000${minute}-abcdef`, modified, texts: [`prompt ${minute}`] });
    }
    const lines = (await list()).split("\n");
    expect([lines[1], lines[9], lines[10]]).toEqual([
      "   1. [2026-07-01 08:09] prompt 9 (1 message)",
      "   9. [2026-07-01 08:01] prompt 1 (1 message)",
      "  10. [2026-07-01 08:00] prompt 0 (1 message)",
    ]);
  });

  test.each([
    ["one line", "  find\n\n all\tTODO  comments ", "find all TODO comments"],
    ["cut at 60 columns", "x".repeat(100), `${"x".repeat(59)}…`],
    ["60 columns exactly", "x".repeat(60), "x".repeat(60)],
    ["wide characters", "日本語".repeat(20), `${"日本語".repeat(20).slice(0, 29)}…`],
    ["control characters", "\x1b]0;title\x07\u009b2J\u202eabc", "\\x1b]0;title\\x07\\x9b2J\\u{202e}abc"],
    ["a long pause", `a${" ".repeat(3000)}b`, "a …"],
  ])("shows a preview on one line, safe and short: %s", async (_, prompt, preview) => {
    writeSession(place, {
      id: "20260225103000-abcdef",
      modified: "2026-02-25T15:30:00.000Z",
      texts: [prompt],
    });
    expect(await list()).toBe(`Sessions:\n  1. [2026-02-25 10:30] ${preview} (1 message)\n`);
  });

  test("shows a name instead of the prompt, and makes a hostile name safe", async () => {
    const name = "my \x1b[31mname\r\nin red";
    writeSession(place, {
      id: "20260225103000-abcdef",
      modified: "2026-02-25T15:30:00.000Z",
      texts: ["p"],
      name,
    });
    expect(await list()).toBe("Sessions:\n  1. [2026-02-25 10:30] my \\x1b[31mname in red (1 message)\n");
  });

  test("marks a session without messages", async () => {
    writeSession(place, { id: "20260225103000-abcdef", modified: "2026-02-25T15:30:00.000Z", texts: [] });
    expect(await list()).toBe("Sessions:\n  1. [2026-02-25 10:30] (no messages) (0 messages)\n");
  });

  test("as JSON has all fields, with dates in ISO 8601", async () => {
    const path = writeSession(place, {
      id: "20260225103000-abcdef",
      modified: "2026-02-25T15:30:00.000Z",
      texts: ["a\x1b", "b"],
      name: "n",
    });
    expect(JSON.parse(await list("--json"))).toEqual([
      {
        id: "20260225103000-abcdef",
        path,
        cwd: place.project,
        name: "n",
        created: "2026-02-25T15:30:00.000Z",
        modified: "2026-02-25T15:30:00.000Z",
        messageCount: 2,
        firstUserMessage: "a\x1b",
      },
    ]);
  });

  test("reads no configuration, so a broken one is no obstacle", async () => {
    place.write("diligent.jsonc", "{ broken");
    expect(await list()).toBe("No sessions found.\n");
  });

  test("lists the sessions of the project from any of its directories, and of no other project", async () => {
    writeSession(place, { id: "20260225103000-abcdef", modified: "2026-02-25T15:30:00.000Z", texts: ["p"] });
    mkdirSync(join(place.project, "deep", "down"), { recursive: true });
    expect(await list("-C", "deep/down")).toContain("1. [2026-02-25 10:30] p (1 message)");
    mkdirSync(join(place.project, "other", ".git"), { recursive: true });
    expect(await list("-C", "other")).toBe("No sessions found.\n");
  });

  test("names a file of a newer version, with and without sessions that can be opened", async () => {
    const path = writeSession(place, {
      id: "20270225103000-bbbbbb",
      modified: "2027-02-25T15:30:00.000Z",
      texts: ["p"],
      version: 3,
    });
    place.write(".diligent/sessions/notes.jsonl", "no session\n");
    const reason = `${path} has version 3 of the session format, and this diligent reads up to 2. Update diligent.`;
    expect(await list()).toBe(`No readable sessions:\n  ${reason}\n`);
    writeSession(place, { id: "20260225103000-aaaaaa", modified: "2026-02-25T15:30:00.000Z", texts: ["p"] });
    const environment = { TZ: "America/New_York" };
    const { stdout, stderr, exitCode } = await runDiligent(place, ["--list"], { environment });
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "Sessions:\n  1. [2026-02-25 10:30] p (1 message)\n",
      stderr: `warning: ${reason}\n`,
      exitCode: 0,
    });
  });
});
