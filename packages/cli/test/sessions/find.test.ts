import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { runDiligent } from "../support/run-diligent.ts";
import { said, savedLines, savedMessages, sessionIds, writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const OLD = "20260101000000-aaaaaa";
const NEW = "20260102000000-bbbbbb";

let place: TemporaryProject;
let oldPath: string;

beforeEach(() => {
  place = createTemporaryProject();
  oldPath = writeSession(place, {
    id: OLD,
    modified: "2026-01-01T12:00:00.000Z",
    texts: ["where is the\n  Needle?", "in the haystack", "thanks", "welcome"],
  });
  writeSession(place, {
    id: NEW,
    modified: "2026-01-02T12:00:00.000Z",
    texts: ["hello", "a needle too (x+y)"],
    name: "sewing kit",
  });
});

afterEach(() => place.remove());

async function sessions(...args: string[]) {
  const environment = { TZ: "UTC" };
  const { stdout, stderr, exitCode } = await runDiligent(place, ["sessions", ...args], { environment });
  return { stdout, stderr, exitCode };
}

async function found(...args: string[]): Promise<unknown> {
  const { stdout } = await sessions("find", ...args, "--json");
  const value: unknown = JSON.parse(stdout);
  return value;
}

describe("sessions find", () => {
  test("prints each entry that contains the text, case-insensitively, the most recently changed session first", async () => {
    expect((await sessions("find", "needle")).stdout).toBe(
      `${NEW} [2026-01-02 12:00] sewing kit\n  00000001 assistant: a needle too (x+y)\n` +
        `${OLD} [2026-01-01 12:00] where is the Needle?\n  00000000 user: where is the Needle?\n`,
    );
  });

  test("finds text across a line break, text with special characters, and names", async () => {
    expect(await found("the", "needle")).toEqual([
      {
        id: OLD,
        entryId: "00000000",
        kind: "user",
        timestamp: "2026-01-01T12:00:00.000Z",
        text: "where is the Needle?",
        modified: "2026-01-01T12:00:00.000Z",
        project: place.project,
        path: oldPath,
      },
    ]);
    expect(await found("(x+y)")).toMatchObject([{ id: NEW, entryId: "00000001" }]);
    expect(await found("sewing")).toMatchObject([{ id: NEW, entryId: "000000ff", kind: "name" }]);
  });

  test("finds a label and prints its entry", async () => {
    await sessions("label", `${OLD}@00000003`, "good", "state");
    expect(await found("good state")).toMatchObject([
      { id: OLD, entryId: "00000003", kind: "label", text: "good state" },
    ]);
    await sessions("label", `${OLD}@00000003`);
    expect(await found("good state")).toEqual([]);
  });

  test("prints only the text around the match", async () => {
    const texts = [`${"before ".repeat(100)}pin${" after".repeat(100)}`, "one"];
    writeSession(place, { id: "20260103000000-cccccc", modified: "2026-01-03T12:00:00.000Z", texts });
    const { stdout } = await sessions("find", "pin");
    expect(stdout.split("\n")[1]).toMatch(/^ {2}00000000 user: ….{50,60}pin.{150,160}…$/);
  });

  test("says so if nothing matches, and needs a text", async () => {
    expect(await sessions("find", "nowhere")).toEqual({
      stdout: "Nothing found.\n",
      stderr: "",
      exitCode: 0,
    });
    expect(await found("nowhere")).toEqual([]);
    expect(await sessions("find", " ")).toEqual({
      stdout: "",
      stderr: 'diligent: sessions find needs a text: diligent sessions find "some text"\n',
      exitCode: 2,
    });
  });

  test("--all searches every project in which a prompt was sent", async () => {
    const other = createTemporaryProject();
    try {
      place.write("script.json", { version: 1, turns: [{ text: "the other needle" }] });
      const script = `${place.project}/script.json`;
      await runDiligent(place, ["-C", other.project, "-p", "-m", `scripted/${script}`, "look"]);
      expect(await found("other needle")).toEqual([]);
      expect(await found("other needle", "--all")).toMatchObject([
        { project: other.project, kind: "assistant", text: "the other needle" },
      ]);
      expect((await sessions("find", "needle", "--all")).stdout).toContain(`look in ${other.project}\n`);
      expect(await found("sewing", "--all")).toHaveLength(1);
    } finally {
      other.remove();
    }
  });
});

describe("sessions archive", () => {
  test("hides a session from the list, the search and --continue until it is unarchived", async () => {
    const before = readFileSync(oldPath, "utf8");
    expect((await sessions("archive", "2")).stdout).toBe(`${OLD} is archived: where is the Needle?\n`);
    expect(readFileSync(oldPath, "utf8")).toStartWith(before);
    expect((await sessions()).stdout).toBe("Sessions:\n  1. [2026-01-02 12:00] sewing kit (2 messages)\n");
    expect(await found("haystack")).toEqual([]);
    expect(await found("haystack", "--archived")).toMatchObject([{ id: OLD, archived: true }]);
    expect((await sessions("list", "--archived")).stdout).toBe(
      "Sessions:\n  1. [2026-01-02 12:00] sewing kit (2 messages)\n" +
        "  2. [2026-01-01 12:00] where is the Needle? (4 messages) (archived)\n",
    );
    expect((await sessions("unarchive", "2")).stdout).toBe(
      `${OLD} is again in the list: where is the Needle?\n`,
    );
    expect((await sessions()).stdout).toContain("  2. [2026-01-01 12:00] where");
    expect((await sessions("unarchive", OLD)).stdout).toStartWith(`${OLD} is already in the list`);
  });

  test("leaves --continue the most recent of the others, and still accepts its id", async () => {
    place.write("script.json", { version: 1, turns: [{ text: "one" }, { text: "two" }, { text: "three" }] });
    const print = (...args: string[]) => runDiligent(place, ["-p", "-m", "scripted/script.json", ...args]);
    await sessions("archive", "sewing kit");
    expect((await print("-c", "next")).exitCode).toBe(0);
    expect(said(savedMessages(place, OLD)).at(-2)).toBe("user: next");
    expect((await print("-c", "2", "go")).stderr).toStartWith("diligent: no session 2; there are: ");
    expect((await print("-c", NEW, "go")).exitCode).toBe(0);
    expect((await sessions()).stdout).toContain("sewing kit (4 messages)\n");
  });

  test("says so if every session is archived", async () => {
    await sessions("archive", NEW);
    await sessions("archive", OLD);
    const { stderr, exitCode } = await runDiligent(place, ["-p", "-c", "go"]);
    expect([exitCode, stderr]).toEqual([
      2,
      "diligent: every session of this project is archived: diligent sessions list --archived\n",
    ]);
  });
});

describe("session entries", () => {
  test("are listed by --entries, one line each, with their labels", async () => {
    await sessions("label", "2@00000001", "good", "state");
    expect((await sessions("show", "2", "--entries")).stdout).toMatch(
      new RegExp(
        [
          "^● 00000000 user      where is the Needle\\?",
          "● 00000001 assistant \\[good state\\] in the haystack",
          "● 00000002 user      thanks",
          "● 00000003 assistant welcome",
          "○ [0-9a-f]{8} label     label on 00000001: good state\n$",
        ].join("\n"),
      ),
    );
    const { stdout } = await sessions("show", "sewing kit", "--entries", "--json");
    expect(JSON.parse(stdout)).toMatchObject([
      { id: "00000000", parentId: null, type: "message", role: "user", text: "hello", isOnBranch: true },
      { id: "00000001", role: "assistant", isOnBranch: true },
      { id: "000000ff", type: "session_info", text: "name: sewing kit", isOnBranch: false },
    ]);
  });

  test.each([
    [
      ["label", "2"],
      "sessions label 2: needs REF@ENTRY; ENTRY is an id of 8 hexadecimal digits or a label: see diligent sessions show REF --entries",
    ],
    [["label", "2@0000000f", "x"], noEntry("0000000f")],
    [["label", "2@zz", "x"], noEntry("zz")],
  ])("that do not exist are refused: %p", async (args, message) => {
    expect(await sessions(...args)).toEqual({ stdout: "", stderr: `diligent: ${message}\n`, exitCode: 2 });
  });
});

const noEntry = (entry: string) =>
  `session ${OLD} has no entry ${entry}; ENTRY is an id of 8 hexadecimal digits or a label: see diligent sessions show ${OLD} --entries`;

describe("--fork REF@ENTRY", () => {
  const fork = (...args: string[]) => {
    place.write("script.json", { version: 1, turns: [{ text: "one" }, { text: "two" }, { text: "three" }] });
    return runDiligent(place, ["-p", "-m", "scripted/script.json", ...args]);
  };

  test.each([[`${OLD}@00000001`], ["2@00000001"]])(
    "copies the branch up to that entry: %p",
    async (reference) => {
      const before = readFileSync(oldPath);
      expect((await fork("--fork", reference, "another way")).exitCode).toBe(0);
      const copy = sessionIds(place).find((id) => id !== OLD && id !== NEW) ?? "";
      expect(said(savedMessages(place, copy))).toEqual([
        "user: where is the\n  Needle?",
        "assistant: in the haystack",
        "user: another way",
        "assistant: two",
      ]);
      expect(savedLines(place, copy)[0]).toMatchObject({ parentSession: OLD });
      expect(readFileSync(oldPath)).toEqual(before);
    },
  );

  test("accepts a name before the entry", async () => {
    expect((await fork("--fork", "sewing kit@00000000", "go")).exitCode).toBe(0);
    const copy = sessionIds(place).find((id) => id !== OLD && id !== NEW) ?? "";
    expect(said(savedMessages(place, copy))[0]).toBe("user: hello");
  });

  test.each([[["--fork", "2@before"]], [["--fork=2@before"]]])(
    "accepts a label instead of the id: %p",
    async (args) => {
      await sessions("label", "2@00000001", "before");
      expect((await fork(...args, "another way")).exitCode).toBe(0);
      const copy = sessionIds(place).find((id) => id !== OLD && id !== NEW) ?? "";
      expect(said(savedMessages(place, copy)).slice(1, 3)).toEqual([
        "assistant: in the haystack",
        "user: another way",
      ]);
    },
  );

  test("refuses a label that two entries have, and accepts a session name that contains an @", async () => {
    for (const entry of ["00000000", "00000001"]) await sessions("label", `2@${entry}`, "twice");
    const { stderr, exitCode } = await fork("--fork", "2@twice", "go");
    expect([stderr, exitCode]).toEqual([
      `diligent: 2 entries have the label twice; name one by its id: see diligent sessions show ${OLD} --entries\n`,
      2,
    ]);
    await sessions("name", "2", "mail@home");
    expect((await fork("--fork", "mail@home", "go")).exitCode).toBe(0);
  });

  test.each([
    [["--fork", "2@0000000f"], noEntry("0000000f")],
    [["--fork", "2@good state"], noEntry("good state")],
    [["--fork=2@wip"], noEntry("wip")],
    [
      ["-c", "2@00000001"],
      "2@00000001 names an entry: use --fork 2@00000001 to fork the session at that entry",
    ],
  ])("refuses an unknown entry, and an entry with --continue: %p", async (args, message) => {
    const { stderr, exitCode } = await fork(...args, "go");
    expect([stderr, exitCode]).toEqual([`diligent: ${message}\n`, 2]);
  });
});
