import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ConfigWarning } from "../../src/config/errors.ts";
import {
  buildSystemPrompt,
  buildSystemPromptWithKnowledge,
  discoverInstructions,
} from "../../src/config/instructions.ts";
import { composeSystemPrompt } from "../../src/config/system-prompt.ts";
import type { Environment } from "../../src/infrastructure/runtime.ts";
import { makeConfigPlace, put } from "../support/config-place.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { ONLY_ROOT_CAN, testUnless } from "../support/test-unless.ts";

async function discover(cwd: string, environment: Environment) {
  const warnings: ConfigWarning[] = [];
  const found = await discoverInstructions(cwd, {
    environment,
    onWarning: (warning) => warnings.push(warning),
  });
  return { found, warnings };
}

function notLoaded(path: string, reason: string): ConfigWarning {
  return { code: "instructions_not_loaded", message: `${path} is not loaded: ${reason}` };
}

describe("discoverInstructions", () => {
  test("lists both names from the working directory to the repository's root, nearest first, the user's own last", async () => {
    const { home, project, environment } = makeConfigPlace();
    const cwd = join(project, "a", "b");
    const files = [
      put(join(cwd, "CLAUDE.md"), "nearest\n"),
      put(join(cwd, "AGENTS.md"), "nearest, other name"),
      put(join(project, "AGENTS.md"), "root"),
      put(join(home, ".config", "diligent", "CLAUDE.md"), "user"),
      put(join(home, ".config", "diligent", "AGENTS.md"), "user, other name"),
    ];
    put(join(home, "CLAUDE.md"), "above the repository");
    const texts = ["nearest\n", "nearest, other name", "root", "user", "user, other name"];
    expect(await discover(cwd, environment)).toEqual({
      found: files.map((path, index) => ({ path, content: texts[index] ?? "" })),
      warnings: [],
    });
  });

  test("the search ends at a .git in the working directory itself, both a directory and a worktree's file", async () => {
    const { project, environment } = makeConfigPlace();
    put(join(project, "CLAUDE.md"), "outer");
    const inner = join(project, "inner");
    const path = put(join(inner, "CLAUDE.md"), "inner");
    put(join(inner, ".git"), "gitdir: elsewhere\n");
    expect((await discover(inner, environment)).found).toEqual([{ path, content: "inner" }]);
  });

  test("without a repository it ends at the home directory, never above it", async () => {
    const top = makeTempDir();
    put(join(top, "CLAUDE.md"), "above home");
    const home = join(top, "home");
    mkdirSync(join(home, ".git"), { recursive: true });
    const atHome = put(join(home, "CLAUDE.md"), "home");
    const notes = put(join(home, "notes", "deep", "CLAUDE.md"), "notes");
    const environment = { HOME: home };
    expect((await discover(join(home, "notes", "deep"), environment)).found.map(({ path }) => path)).toEqual([
      notes,
      atHome,
    ]);
    expect((await discover(home, environment)).found.map(({ path }) => path)).toEqual([atHome]);
    expect((await discover(top, environment)).found.map(({ content }) => content)).toEqual(["above home"]);
  });

  test("a project without such files has no instructions and no warning", async () => {
    const { project, environment } = makeConfigPlace();
    expect(await discover(project, environment)).toEqual({ found: [], warnings: [] });
  });

  test("the working directory is resolved to its real path", async () => {
    const { home, project, environment } = makeConfigPlace();
    const path = put(join(project, "CLAUDE.md"), "x");
    symlinkSync(project, join(home, "link"));
    expect((await discover(join(home, "link"), environment)).found).toEqual([{ path, content: "x" }]);
  });

  test("the same file and the same text are included once, at the nearest place", async () => {
    const { home, project, environment } = makeConfigPlace();
    const cwd = join(project, "a");
    put(join(cwd, "CLAUDE.md"), "same\r\ntext\r\n");
    put(join(cwd, "AGENTS.md"), "\nsame\ntext");
    put(join(project, "CLAUDE.md"), "root");
    symlinkSync("CLAUDE.md", join(project, "AGENTS.md"));
    put(join(home, ".config", "diligent", "CLAUDE.md"), "root\n\n");
    expect((await discover(cwd, environment)).found.map(({ path }) => path)).toEqual([
      join(cwd, "CLAUDE.md"),
      join(project, "CLAUDE.md"),
    ]);
  });

  test("an empty file is left out", async () => {
    const { project, environment } = makeConfigPlace();
    put(join(project, "CLAUDE.md"), " \n\t\n");
    expect(await discover(project, environment)).toEqual({ found: [], warnings: [] });
  });
});

describe("a large file", () => {
  test("is truncated after 32 KiB at a character boundary, with a mark and a warning", async () => {
    const { project, environment } = makeConfigPlace();
    const path = put(join(project, "CLAUDE.md"), `x${"😀".repeat(10_000)}`);
    const { found, warnings } = await discover(project, environment);
    expect(found).toEqual([{ path, content: `x${"😀".repeat(8_191)}\n...(truncated)` }]);
    const message = `${path} has 40001 bytes; only the first 32768 are sent to the model`;
    expect(warnings).toEqual([{ code: "instructions_truncated", message }]);
  });

  test("of exactly 32 KiB is complete", async () => {
    const { project, environment } = makeConfigPlace();
    const content = "a".repeat(32_768);
    const path = put(join(project, "CLAUDE.md"), content);
    expect(await discover(project, environment)).toEqual({ found: [{ path, content }], warnings: [] });
  });

  test("of 4 GB is not read whole", async () => {
    const { project, environment } = makeConfigPlace();
    const path = join(project, "CLAUDE.md");
    execFileSync("truncate", ["-s", "4G", path]);
    const warnings = [notLoaded(path, "binary data")];
    expect(await discover(project, environment)).toEqual({ found: [], warnings });
  });
});

describe("a file that is not valid instructions is left out with a warning:", () => {
  test("a directory, a pipe, a device, binary data, a dangling link", async () => {
    const { project, environment } = makeConfigPlace();
    const path = join(project, "CLAUDE.md");
    const cases: [() => unknown, string][] = [
      [() => mkdirSync(path), `${path} is a directory`],
      [() => execFileSync("mkfifo", [path]), `${path} is a named pipe`],
      [() => symlinkSync("/dev/zero", path), "/dev/zero is a device"],
      [() => put(path, Uint8Array.of(1, 0, 2)), "binary data"],
      [
        () => symlinkSync("gone", path),
        `${path} is a symbolic link to gone, which does not exist. Use the path of a real file`,
      ],
    ];
    for (const [make, reason] of cases) {
      make();
      expect(await discover(project, environment)).toEqual({
        found: [],
        warnings: [notLoaded(path, reason)],
      });
      rmSync(path, { recursive: true });
    }
  });

  test("a link out of the repository; one within it is followed", async () => {
    const { home, project, environment } = makeConfigPlace();
    const secret = put(join(home, "secret.txt"), "secret");
    const path = join(project, "sub", "CLAUDE.md");
    mkdirSync(join(project, "sub"));
    symlinkSync(secret, path);
    put(join(project, "docs", "agents.md"), "inside");
    symlinkSync("docs/agents.md", join(project, "AGENTS.md"));
    const { found, warnings } = await discover(join(project, "sub"), environment);
    expect(found).toEqual([{ path: join(project, "AGENTS.md"), content: "inside" }]);
    expect(warnings).toEqual([notLoaded(path, `it is a link to ${secret}, outside ${project}`)]);
  });

  test("a link within the repository to a link out of it", async () => {
    const { home, project, environment } = makeConfigPlace();
    put(join(home, "other", "CLAUDE.md"), "other");
    symlinkSync(join(home, "other", "CLAUDE.md"), join(project, "CLAUDE.md"));
    symlinkSync("CLAUDE.md", join(project, "AGENTS.md"));
    const { found, warnings } = await discover(project, environment);
    expect(found).toEqual([]);
    expect(warnings.map(({ code }) => code)).toEqual(["instructions_not_loaded", "instructions_not_loaded"]);
  });

  test("the user's own file may be a link to any place", async () => {
    const { home, project, environment } = makeConfigPlace();
    const path = join(home, ".config", "diligent", "AGENTS.md");
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(put(join(home, "dotfiles", "agents.md"), "mine"), path);
    expect((await discover(project, environment)).found).toEqual([{ path, content: "mine" }]);
  });

  test("a file that all users may write to, or whose directory is open to everybody", async () => {
    const { project, environment } = makeConfigPlace();
    const path = put(join(project, "CLAUDE.md"), "x");
    chmodSync(path, 0o666);
    expect((await discover(project, environment)).warnings).toEqual([
      notLoaded(path, "all users may write to it"),
    ]);
    chmodSync(path, 0o664);
    expect((await discover(project, environment)).found).toHaveLength(1);
    chmodSync(project, 0o1777);
    expect(await discover(project, environment)).toEqual({
      found: [],
      warnings: [notLoaded(path, `all users may write to its directory ${project}`)],
    });
  });

  testUnless(ONLY_ROOT_CAN)("a file or a directory of another user", async () => {
    const { project, environment } = makeConfigPlace();
    const path = put(join(project, "CLAUDE.md"), "x");
    chownSync(path, 12345, 12345);
    const concern = "belongs to another user (uid 12345)";
    expect((await discover(project, environment)).warnings).toEqual([notLoaded(path, `it ${concern}`)]);
    chownSync(path, 0, 0);
    chownSync(project, 12345, 12345);
    expect((await discover(project, environment)).warnings).toEqual([
      notLoaded(path, `its directory ${project} ${concern}`),
    ]);
  });
});

describe("invisible characters", () => {
  async function visiblePart(text: string) {
    const { project, environment } = makeConfigPlace();
    put(join(project, "CLAUDE.md"), text);
    const { found, warnings } = await discover(project, environment);
    return { text: found[0]?.content, messages: warnings.map(({ message }) => message.replace(/^\S+ /, "")) };
  }

  test("are removed and reported: tags, zero-width and direction marks, controls", async () => {
    const tags = Array.from("evil", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(
      "",
    );
    expect(await visiblePart(`a${tags}b\u200bc\u202ed\u2066e\u00adf\u001bg\ufeffh\u2064`)).toEqual({
      text: "abcdefgh",
      messages: ["contains 11 invisible characters, which are not sent to the model"],
    });
    expect(await visiblePart(tags)).toEqual({
      text: undefined,
      messages: ["contains 4 invisible characters, which are not sent to the model"],
    });
  });

  test("are removed if joiners and selectors join nothing, as in hidden bits between letters", async () => {
    expect((await visiblePart("a\u200db\u200cc\ufe0f 漢\ufe0f\ufe0e\ufe0f字\u200d\u200c\u200d字")).text).toBe(
      "abc 漢字字",
    );
  });

  test.each(["👩‍💻 and ❤️‍🔥 and 1️⃣ and ☀️", "می‌خواهم", "क्‍ष", "tabs\tand\r\nlines\n", "é ü ß 漢字 ﷼ \u0600"])(
    "stay where a script needs them: %p",
    async (text) => {
      expect(await visiblePart(text)).toEqual({ text, messages: [] });
    },
  );
});

describe("buildSystemPrompt", () => {
  const instructions = [
    { path: "/p/sub/CLAUDE.md", content: "particular\n\n" },
    { path: "/p/CLAUDE.md", content: "general" },
  ];

  test("puts general instructions before specific ones, each with its path, and additional instructions last", () => {
    expect(buildSystemPrompt("Base.", instructions, ["One.", " Two.\n"])).toBe(
      "Base.\n\nInstructions from: /p/CLAUDE.md\ngeneral\n\nInstructions from: /p/sub/CLAUDE.md\nparticular\n\nOne.\n\nTwo.",
    );
    expect(instructions[0]?.path).toBe("/p/sub/CLAUDE.md");
  });

  test("is only the base if there are no instructions", () => {
    expect(buildSystemPrompt("Base.", [])).toBe("Base.");
  });

  test("a path cannot begin a line by itself", () => {
    expect(buildSystemPrompt("B", [{ path: "/p\nObey:\u202e/CLAUDE.md", content: "x" }])).toBe(
      "B\n\nInstructions from: /p\\u{a}Obey:\\u{202e}/CLAUDE.md\nx",
    );
  });

  test("composeSystemPrompt puts the facts about the environment between the base and the instructions", () => {
    const facts = {
      cwd: "/p/sub",
      projectRoot: "/p",
      platform: "linux",
      date: "2026-11-21",
      gitBranch: "main",
    };
    expect(composeSystemPrompt({ base: "Base.\n", facts, instructions, additional: ["Last."] })).toBe(
      `Base.

# Environment
Working directory: /p/sub
Project root: /p
Platform: linux
Date: 2026-11-21 (UTC)
Git branch: main

Instructions from: /p/CLAUDE.md
general

Instructions from: /p/sub/CLAUDE.md
particular

Last.`,
    );
  });
});

describe("buildSystemPromptWithKnowledge", () => {
  const instructions = [
    { path: "/p/sub/CLAUDE.md", content: "particular" },
    { path: "/p/CLAUDE.md", content: "general" },
  ];
  const section = "## Project Knowledge\n- [pattern] Uses Bun.\n";
  const recording = `You have access to an add_knowledge tool. Use it to save important information that should persist across sessions:
- Project patterns (naming conventions, preferred libraries, architectural patterns)
- User preferences (workflow, style, communication)
- Key decisions made during this session
- Corrections to previous behavior

Use your judgment — save knowledge when you discover something that would be useful in future sessions.`;

  test("puts knowledge before the instructions, and how to record it last", () => {
    expect(buildSystemPromptWithKnowledge("Base.", instructions, section, ["One."])).toBe(
      [
        "Base.",
        "## Project Knowledge\n- [pattern] Uses Bun.",
        "Instructions from: /p/CLAUDE.md\ngeneral",
        "Instructions from: /p/sub/CLAUDE.md\nparticular",
        "One.",
        recording,
      ].join("\n\n"),
    );
  });

  test("without knowledge still asks the model to record some", () => {
    expect(buildSystemPromptWithKnowledge("Base.", [], "")).toBe(`Base.\n\n${recording}`);
  });

  test("composeSystemPrompt asks to record only if that is possible, and leaves knowledge out if it is disabled", () => {
    const facts = { cwd: "/p", projectRoot: "/p", platform: "linux", date: "2026-11-21" };
    const compose = (knowledge?: { section: string; isRecorded: boolean }) =>
      composeSystemPrompt({ base: "Base.", facts, additional: ["Last."], knowledge });
    const start = "Base.\n\n# Environment\nWorking directory: /p\nPlatform: linux\nDate: 2026-11-21 (UTC)";
    const told = "## Project Knowledge\n- [pattern] Uses Bun.";
    expect(compose()).toBe(`${start}\n\nLast.`);
    expect(compose({ section, isRecorded: true })).toBe(`${start}\n\n${told}\n\nLast.\n\n${recording}`);
    expect(compose({ section, isRecorded: false })).toBe(`${start}\n\n${told}\n\nLast.`);
    expect(compose({ section: "", isRecorded: false })).toBe(`${start}\n\nLast.`);
  });
});
