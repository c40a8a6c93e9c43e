import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { said, savedLines, savedMessages, sessionIds, writeSession } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

const [OLD, MIDDLE, NEW] = ["20260101000000-aaaaaa", "20260102000000-bbbbbb", "20260102000000-cccccc"];

beforeEach(() => {
  place = createTemporaryProject();
  place.write("script.json", { version: 1, turns: [{ text: "one" }, { text: "two" }, { text: "three" }] });
});

afterEach(() => place.remove());

function writeThree(): void {
  for (const [index, id] of [OLD, MIDDLE, NEW].entries()) {
    const modified = `2026-01-0${index + 1}T12:00:00.000Z`;
    writeSession(place, { id, modified, texts: [`prompt of ${id}`, "one"] });
  }
}

const MODEL = ["-m", "scripted/script.json"];

function print(...args: string[]) {
  return runDiligent(place, ["-p", ...MODEL, ...args], { environment: { TZ: "America/New_York" } });
}

describe("--continue", () => {
  test("continues the most recently changed session in its file, with its whole history", async () => {
    await print("first");
    const { stdout, stderr, exitCode } = await print("-c", "second");
    expect([stdout, exitCode]).toEqual(["two\n", 0]);
    const [id = "", ...others] = sessionIds(place);
    expect(others).toEqual([]);
    const [year, month, day] = new Date(String(savedLines(place, id)[0]?.timestamp))
      .toLocaleDateString("sv", { timeZone: "America/New_York" })
      .split("-");
    expect(stderr).toMatch(
      new RegExp(
        `^Resuming session ${year}-${month}-${day}T\\d\\d:\\d\\d:\\d\\d\\.\\.\\. \\(just now, 2 messages, 1 KB\\)\\n$`,
      ),
    );
    expect(said(savedMessages(place))).toEqual([
      "user: first",
      "assistant: one",
      "user: second",
      "assistant: two",
    ]);
  });

  test("prints the age, the message count and the size", async () => {
    const modified = new Date(Date.now() - 3 * 3_600_000).toISOString();
    writeSession(place, { id: OLD, modified, texts: ["x".repeat(20_000), "one"] });
    const { stderr } = await print("-c", "go");
    expect(stderr).toMatch(/^Resuming session .*\.\.\. \(3 hours ago, 2 messages, 20 KB\)\n$/);
  });

  test.each([
    [["-c", "3"], OLD],
    [["--continue=3"], OLD],
    [["-r", "2"], MIDDLE],
    [["--resume", "20260101"], OLD],
    [["-c", OLD], OLD],
    [["--continue=20260102000000-b"], MIDDLE],
    [["-c"], NEW],
    [["-c", "20260102000000-c", "--"], NEW],
  ])("accepts a number, an id or an id prefix: %p", async (args, id) => {
    writeThree();
    expect((await print(...args, "go")).exitCode).toBe(0);
    expect(savedMessages(place, id).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(said(savedMessages(place, id))[2]).toBe("user: go");
  });

  test.each([
    ["4", "no session 4; there are: "],
    ["0", "no session 0; there are: "],
    ["20260103", "no session 20260103; there are: "],
    ["20260102000000", `2 sessions begin with 20260102000000; there are: ${NEW} `],
  ])("refuses an unknown or ambiguous REF with the candidates: %p", async (reference, line) => {
    writeThree();
    const { stdout, stderr, exitCode } = await print(`--continue=${reference}`, "go");
    expect([stdout, exitCode]).toEqual(["", 2]);
    expect(stderr).toStartWith(`diligent: ${line}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(MIDDLE);
  });

  describe("--continue with the name of a session", () => {
    beforeEach(() => {
      for (const [id, name] of [
        [OLD, "my name"],
        [MIDDLE, "twice"],
        [NEW, "twice"],
      ] as const)
        writeSession(place, { id, modified: "2026-01-01T00:00:00.000Z", texts: ["x", "one"], name });
    });

    test.each([
      [["-c", "my name", "go on"], "user: go on"],
      [["--resume=my name", "go on"], "user: go on"],
    ])("continues that session: %p", async (args, prompt) => {
      expect((await print(...args)).exitCode).toBe(0);
      expect(said(savedMessages(place, OLD))[2]).toBe(prompt);
    });

    test("and no prompt takes the prompt from the piped input", async () => {
      const { exitCode } = await runDiligent(place, [...MODEL, "-c", "my name"], { stdin: "piped" });
      expect([exitCode, said(savedMessages(place, OLD))[2]]).toEqual([0, "user: piped"]);
    });

    test("that two sessions have is refused with both ids", async () => {
      const { stderr, exitCode } = await print("-c", "twice");
      expect(exitCode).toBe(2);
      expect(stderr).toStartWith("diligent: 2 sessions have the name twice; there are: ");
      expect([stderr.includes(MIDDLE), stderr.includes(NEW), stderr.includes(OLD)]).toEqual([
        true,
        true,
        false,
      ]);
    });

    test.each([
      [["-c", "zz", "go on"], "--continue", "zz"],
      [["-c", "fix", "the", "bug"], "--continue", "fix"],
      [["2024", "-c", "zz"], "--continue", "zz"],
      [["-r", "zz", "hi"], "--resume", "zz"],
      [["--fork", "zz", "hi"], "--fork", "zz"],
    ])("that no session has is refused if a prompt follows: %p", async (args, option, word) => {
      const { stdout, stderr, exitCode } = await print(...args);
      expect([stdout, exitCode]).toEqual(["", 2]);
      expect(stderr).toStartWith(`diligent: no session ${word}; there are: `);
      expect(stderr).toEndWith(
        `. A prompt follows, so the word after ${option} must be a session; if it belongs to the prompt, quote the whole prompt\n`,
      );
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    });
  });

  test("--continue without any session says so", async () => {
    const { stderr, exitCode } = await print("-c", "go");
    expect([stderr, exitCode]).toEqual(["diligent: no sessions in this project yet\n", 2]);
  });

  test.each([["-c"], [`--continue=${NEW}`], ["--continue=20260102"]])(
    "a session of a newer version is refused with both versions and left untouched: %p",
    async (option) => {
      const path = writeSession(place, {
        id: NEW,
        modified: "2026-01-02T00:00:00.000Z",
        texts: ["x", "y"],
        version: 3,
      });
      const before = readFileSync(path);
      const { stderr, exitCode } = await print(option, "go");
      expect([stderr, exitCode]).toEqual([
        `diligent: ${path} has version 3 of the session format, and this diligent reads up to 2. Update diligent.\n`,
        2,
      ]);
      expect(readFileSync(path)).toEqual(before);
    },
  );

  test("--continue resumes a session of version 1", async () => {
    writeSession(place, { id: OLD, modified: "2026-01-01T00:00:00.000Z", texts: ["x", "one"], version: 1 });
    expect((await print("-c", "go")).stdout).toBe("two\n");
    expect(savedLines(place)[0]).toMatchObject({ version: 1 });
  });

  test("damaged lines are reported, and the rest of the history is sent", async () => {
    const path = writeSession(place, {
      id: OLD,
      modified: "2026-01-01T00:00:00.000Z",
      texts: ["x", "one", "y"],
    });
    const torn = readFileSync(path, "utf8").slice(0, -20);
    place.write(`.diligent/sessions/${OLD}.jsonl`, torn);
    const { stdout } = await print("-c", "go", "--output-format", "stream-json");
    // The test does not depend on whether this machine has a sandbox.
    const notices = parseLines(stdout).filter(({ type, code }) => type === "notice" && code !== "no_sandbox");
    expect(notices).toMatchObject([{ code: "resumed" }, { code: "damaged_lines", level: "warning" }]);
    expect(readFileSync(path, "utf8")).toStartWith(`${torn}\n{"type":"message"`);
  });

  test("--continue names the session's directory if it differs from the current one", async () => {
    const cwd = join(place.project, "gone");
    writeSession(place, { id: OLD, modified: "2026-01-01T00:00:00.000Z", texts: ["x", "one"], cwd });
    expect((await print("-c", "go")).stderr).toContain(
      `That session used ${cwd}, which is gone; this one uses ${place.project}.\n`,
    );
    mkdirSync(cwd);
    expect((await print("-c", "go")).stderr).toContain(
      `That session used ${cwd}; this one uses ${place.project}.\n`,
    );
  });

  test("a session continues in a project that was moved", async () => {
    await print("first");
    const moved = join(place.top, "moved");
    renameSync(place.project, moved);
    const { stdout, stderr } = await runDiligent(place, ["-p", "-c", ...MODEL, "second"], { cwd: moved });
    expect([stdout, stderr]).toEqual([
      "two\n",
      expect.stringContaining(`That session used ${place.project}, which is gone; this one uses ${moved}.\n`),
    ]);
  });
});

describe("the model of a session", () => {
  test("is recorded when it changes, and a script continues where its history is", async () => {
    await print("first");
    place.write("other.json", { version: 1, turns: [{ text: "other one" }, { text: "other two" }] });
    const { stdout } = await runDiligent(place, ["-p", "-c", "-m", "scripted/other.json", "second"]);
    expect(stdout).toBe("other two\n");
    expect(savedLines(place).map(({ type, modelId }) => modelId ?? type)).toEqual([
      "session",
      ...["message", "message", "scripted/other.json", "message", "message"],
    ]);
  });

  test("is not taken from the file if it is a script, and the message says what is possible", async () => {
    await print("first");
    const { stderr, exitCode } = await runDiligent(place, ["-p", "-c", "second"]);
    expect(exitCode).toBe(2);
    expect(stderr).toStartWith(
      "diligent: The session used scripted/script.json: a script is only played with --model scripted/script.json. It cannot continue with claude-",
    );
    expect(stderr).toContain("set ANTHROPIC_API_KEY");
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("--fork", () => {
  test("creates a copy as a new session that names its parent", async () => {
    await print("first");
    const [parent = ""] = sessionIds(place);
    const before = savedLines(place, parent);
    const { stdout, stderr } = await print("--fork", "second");
    expect([stdout, stderr]).toEqual(["two\n", expect.stringMatching(/^Forking session .*\n$/)]);
    const child = sessionIds(place).find((id) => id !== parent) ?? "";
    expect(savedLines(place, child)[0]).toMatchObject({ id: child, parentSession: parent });
    expect(savedLines(place, child).slice(1, 3)).toEqual(before.slice(1));
    expect(said(savedMessages(place, child)).slice(2)).toEqual(["user: second", "assistant: two"]);
    expect(savedLines(place, parent)).toEqual(before);
  });

  test("accepts a REF", async () => {
    writeThree();
    expect((await print("--fork", "3", "go")).exitCode).toBe(0);
    const child = sessionIds(place).find((id) => ![OLD, MIDDLE, NEW].includes(id)) ?? "";
    expect(said(savedMessages(place, child))[0]).toBe(`user: prompt of ${OLD}`);
  });
});

describe("--no-session", () => {
  test("writes nothing, not even a directory", async () => {
    expect((await print("--no-session", "go")).stdout).toBe("one\n");
    expect(existsSync(join(place.project, ".diligent"))).toBe(false);
  });

  test.each(["--continue", "--fork"])(
    "with %s reads the earlier session and leaves it unchanged",
    async (option) => {
      const path = writeSession(place, {
        id: OLD,
        modified: "2026-01-01T00:00:00.000Z",
        texts: ["x", "one"],
      });
      const before = readFileSync(path);
      const { stdout } = await print(option, "--no-session", "go");
      expect([stdout, readFileSync(path), sessionIds(place)]).toEqual(["two\n", before, [OLD]]);
    },
  );
});
