import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorReply, type ReceivedRequest, startSseServer } from "../../../core/test/support/sse-server.ts";
import { createTheme } from "../../src/tui/theme.ts";
import { welcomeLines } from "../../src/tui/welcome.ts";
import { startInPty } from "../support/pty-program.ts";
import { expectRestored, startInShell } from "../support/restored-terminal.ts";
import { bareEnvironment, PROGRAM, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";
import { ANTHROPIC_SERVICE, OPENAI_SERVICE, wholeReply } from "../support/vendor-service.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

const KEY = "sk-ant-test-0123456789abcdef";
const configPath = () => join(place.home, ".config", "diligent", "diligent.jsonc");

describe("a first start without a key", () => {
  test.each([
    [80, 24],
    [40, 15],
  ])(
    "offers on one screen of %i columns and %i rows to paste a key, the demo and to quit, with only colours",
    async (columns, rows) => {
      await using program = startInPty(place, [], { columns, rows, environment: { NO_COLOR: "1" } });
      const screen = await program.waitFor("diligent.jsonc");
      for (const text of [
        "› 1  Paste a key for anthropic",
        "  2  Paste a key for openai",
        "  d  See the demo, without a key",
        "  q  Quit",
        "console.anthropic.com/settings/keys",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "~/.config/diligent/diligent.jsonc",
      ])
        expect(screen.join("\n")).toContain(text);
      // The unusable prompt field left nothing behind.
      expect(screen[0]).toStartWith("No API key found.");
      expect(program.bytes).not.toContain("\u001b[1m");
      program.send("q");
      expect(await program.exitCode).toBe(2);
      expect(readdirSync(place.project)).toEqual([".git"]);
    },
  );

  test("accepts a hidden key, tests and stores it, and the session begins with the prompt", async () => {
    await using server = await startSseServer(wholeReply(ANTHROPIC_SERVICE, { text: "The answer." }));
    const environment = { ANTHROPIC_BASE_URL: server.url };
    await using program = startInPty(place, ["why so?"], { environment, columns: 120 });
    await program.waitFor("1  Paste a key for anthropic");
    program.send("\r");
    await program.waitFor("Paste the key for anthropic. It is not shown.");
    program.send(`\x1b[200~${KEY}\n\x1b[201~`);
    await program.waitFor("••••");
    program.send("\r");
    await program.waitFor("The answer.");
    const shown = (await program.scrollback()).join("\n");
    expect(shown).toContain("The key for anthropic works and is stored in");
    expect(shown).not.toContain("No API key");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
    expect(program.bytes).not.toContain(KEY.slice(0, 12));
    expect(JSON.parse(readFileSync(configPath(), "utf8"))).toEqual({
      provider: { anthropic: { apiKey: KEY } },
    });
    expect((statSync(configPath()).mode & 0o777).toString(8)).toBe("600");
  });

  test("reports a wrong key, stores nothing and asks again; OpenAI's model answers with OpenAI's key", async () => {
    const right = "sk-proj-right-0123456789";
    await using server = await startSseServer(({ headers }: ReceivedRequest) =>
      headers.authorization === `Bearer ${right}`
        ? wholeReply(OPENAI_SERVICE, { text: "Sol speaks." })
        : errorReply(401, "invalid_request_error", "Incorrect API key provided"),
    );
    const environment = { OPENAI_BASE_URL: `${server.url}/v1` };
    await using program = startInPty(place, [], { environment, columns: 120 });
    await program.waitFor("2  Paste a key for openai");
    // A terminal that does not mark a paste: none of it is a key of the menu.
    program.send("sk-proj-quite-demonstrably-wrong");
    await program.waitFor("Paste the key for openai. It is not shown.");
    program.send("\r");
    await program.waitFor("Incorrect API key provided. The key was not stored.");
    expect(existsSync(configPath())).toBe(false);
    program.send(`${right}\r`);
    await program.waitFor("Using gpt-6.2-sol");
    program.send("hello there\r");
    await program.waitFor("Sol speaks.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
  });

  test("a digit that the menu does not show chooses nothing", async () => {
    await using program = startInPty(place);
    await program.waitFor("2  Paste a key for openai");
    for (const key of ["3", "4", "0"]) {
      program.send(key);
      await program.settle();
    }
    program.send("2");
    await program.waitFor("Paste the key for openai. It is not shown.");
    await program.waitFor("Enter tests it with one request to api.openai.com");
    program.send("\x03");
    expect(await program.exitCode).toBe(2);
  });

  test("returns to the menu with Escape", async () => {
    await using program = startInPty(place);
    await program.waitFor("2  Paste a key for openai");
    program.send("2");
    await program.waitFor("Paste the key for openai");
    program.send("\x1b");
    await program.waitFor("How do you want to start?");
    program.send("q");
    expect(await program.exitCode).toBe(2);
  });

  test.each([
    ["q", "q", 2],
    ["Escape", "\x1b", 2],
    ["Ctrl+C", "\x03", 2],
    ["Ctrl+D", "\x04", 2],
  ])(
    "is left by %s with the exit code of a missing key, and the terminal is restored",
    async (_, key, code) => {
      await using program = startInShell(place, PROGRAM);
      await program.waitFor("Quit");
      program.send(key);
      await program.waitFor(`code ${code}`);
      await expectRestored(program);
    },
  );

  test("starts the demo with d", async () => {
    await using program = startInPty(place);
    await program.waitFor("Quit");
    program.send("d");
    await program.waitFor("A scripted model fixes a bug");
    await program.waitUntil((_, { title }) => title.includes("split-the-bill"));
    expect((await program.scrollback()).join("\n")).not.toContain("No API key");
    program.send("\x03\x03");
    expect(await program.exitCode).toBe(0);
    expect((await program.scrollback()).join("\n")).toContain("Project  /");
  });

  test("prints one line in line mode and in print mode", async () => {
    const line =
      /^diligent: No API key: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run `diligent login`\. `diligent demo` needs none\.\r?\n$/;
    const printed = await runDiligent(place, ["-p", "hello"]);
    expect(printed).toMatchObject({ exitCode: 2, stdout: "" });
    expect(printed.stderr).toMatch(line);
    await using program = startInPty(place, ["--plain-ui"], { columns: 200 });
    expect(await program.exitCode).toBe(2);
    expect(program.bytes.replace(/^\r?\n/, "").replace(/\r?\n\r?\n$/, "\n")).toMatch(line);
  });

  test("prints only the plain line if a provider is configured already", async () => {
    await using program = startInPty(place, ["-m", "gpt-4o"], {
      columns: 200,
      environment: { ANTHROPIC_API_KEY: "sk-test" },
    });
    expect(await program.exitCode).toBe(2);
    const rows = await program.scrollback();
    expect(rows).toEqual([expect.stringMatching(/^diligent: No API key: set OPENAI_API_KEY/)]);
  });
});

test("wraps its explanation at every width, and a path cannot contain sequences", () => {
  const theme = createTheme({ color: true });
  const keyPage = "https://example.com/keys";
  const choice = { kind: "key" as const, provider: "anthropic", keyPage, testedAt: "\u001b[2Jhost" };
  const look = {
    theme,
    choices: [choice],
    variables: ["A_KEY"],
    configPath: "/x\u001b[2J/名名名名名名名名/y",
  };
  const asked = { choice };
  for (const width of [1, 5, 20, 59, 60, 200]) {
    for (const state of [
      { stage: "menu" as const, selected: 0, problem: "Something is wrong." },
      { stage: "key" as const, ...asked, text: "sk-secret", problem: "\u001b[2J wrong" },
      { stage: "trying" as const, ...asked },
    ]) {
      const lines = welcomeLines(state, { width, ...look });
      for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(Math.max(2, width));
      expect(lines.join("")).not.toContain("\u001b[2J");
      expect(lines.join("")).not.toContain("sk-secret");
    }
  }
});

test("the environment of these tests has no key", () => {
  expect(Object.keys(bareEnvironment(place))).not.toContain("ANTHROPIC_API_KEY");
});
