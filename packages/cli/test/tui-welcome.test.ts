import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createTheme } from "../src/tui/theme.ts";
import { welcomeLines } from "../src/tui/welcome/welcome-lines.ts";
import { startInPty } from "./support/pty-program.ts";
import { expectRestored, startInShell } from "./support/restored-terminal.ts";
import { bareEnvironment, PROGRAM, runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

describe("a first start without a key", () => {
  test.each([
    [80, 24],
    [40, 15],
  ])(
    "explains on one screen of %i columns and %i rows how to set one, and says so in nothing but colours",
    async (columns, rows) => {
      await using program = startInPty(place, [], { columns, rows, environment: { NO_COLOR: "1" } });
      const screen = await program.waitFor("leave");
      for (const text of [
        "export ANTHROPIC_API_KEY=…",
        "export OPENAI_API_KEY=…",
        "export DILIGENT_MODEL=gpt-",
        "console.anthropic.com/settings/keys",
        "~/.config/diligent/diligent.jsonc",
        "Enter  see the demo, without a key",
      ])
        expect(screen.join("\n")).toContain(text);
      // Nothing is left of the prompt that nothing could be written in.
      expect(screen[0]).toStartWith("No API key found.");
      expect(program.bytes).not.toContain("\u001b[1m");
      program.send("q");
      expect(await program.exitCode).toBe(2);
      expect(readdirSync(place.project)).toEqual([".git"]);
    },
  );

  test.each([
    ["q", "q", 2],
    ["Escape", "\x1b", 2],
    ["Ctrl+C", "\x03", 2],
    ["Ctrl+D", "\x04", 2],
  ])(
    "is left by %s with the exit code of a missing key, and the terminal is as it was",
    async (_, key, code) => {
      await using program = startInShell(place, PROGRAM);
      await program.waitFor("leave");
      program.send(key);
      await program.waitFor(`code ${code}`);
      await expectRestored(program);
    },
  );

  test("begins the demonstration with Enter", async () => {
    await using program = startInPty(place);
    await program.waitFor("leave");
    program.send("\r");
    await program.waitFor("A scripted model mends a bug");
    await program.waitUntil((_, { title }) => title.includes("split-the-bill"));
    expect((await program.scrollback()).join("\n")).not.toContain("No API key");
    program.send("\x03\x03");
    expect(await program.exitCode).toBe(0);
    expect((await program.scrollback()).join("\n")).toContain("Project  /");
  });

  test("is one line where lines are wanted, and in print mode", async () => {
    const line =
      /^diligent: No API key: set ANTHROPIC_API_KEY\. Get a key at \S+, or try `diligent demo`, which needs none\.\r?\n$/;
    const printed = await runDiligent(place, ["-p", "hello"]);
    expect(printed).toMatchObject({ exitCode: 2, stdout: "" });
    expect(printed.stderr).toMatch(line);
    await using program = startInPty(place, ["--plain-ui"], { columns: 200 });
    expect(await program.exitCode).toBe(2);
    expect(program.bytes.replace(/^\r?\n/, "").replace(/\r?\n\r?\n$/, "\n")).toMatch(line);
  });

  test("is the plain line for somebody who has set up a provider already", async () => {
    await using program = startInPty(place, ["-m", "gpt-4o"], {
      columns: 200,
      environment: { ANTHROPIC_API_KEY: "sk-test" },
    });
    expect(await program.exitCode).toBe(2);
    const rows = await program.scrollback();
    expect(rows).toEqual([expect.stringMatching(/^diligent: No API key: set OPENAI_API_KEY/)]);
  });
});

test("lines of the explanation fit into every width, and a path cannot bring sequences", () => {
  const theme = createTheme({ color: true });
  const hints = [{ variable: "A_KEY", keyPage: "https://example.com/keys", modelId: "gpt-x" }];
  for (const width of [1, 5, 20, 59, 60, 200]) {
    const lines = welcomeLines({ width, theme, hints, configPath: "/x\u001b[2J/名名名名名名名名/y" });
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(Math.max(2, width));
    expect(lines.join("")).not.toContain("\u001b[2J");
  }
});

test("the environment of these tests has no key", () => {
  expect(Object.keys(bareEnvironment(place))).not.toContain("ANTHROPIC_API_KEY");
});
