import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeUserConfig } from "./support/compatible-service.ts";
import { startInPty } from "./support/pty-program.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { runInTerminal } from "./support/run-in-terminal.ts";
import { sessionIds } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;
const DILIGENT_MODEL = "scripted/script.json";

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
  place.write("script.json", { version: 1, turns: [{ text: "The answer." }] });
});

afterEach(() => place.remove());

describe("a single word that could be a mistyped command", () => {
  test.each([
    [["frobnicate"], "frobnicate"],
    [["-m", DILIGENT_MODEL, "stauts"], "stauts"],
  ])("%j is put into the screen's prompt and sent with Enter", async (args, word) => {
    await using program = startInPty(place, args, { environment: { DILIGENT_MODEL } });
    await program.waitFor(`Unknown command ${word}. Press Enter to send it as a prompt.`);
    await program.settle();
    expect((await program.scrollback()).join("\n")).not.toContain("The answer.");
    program.send("\r");
    await program.waitFor("The answer.");
    program.send("\x04");
    expect(await program.exitCode).toBe(0);
  });

  test.each([
    ["y\r", true],
    ["\r", false],
  ])("is asked about in the line prompt, where %p decides", async (answer, isSent) => {
    const program = runInTerminal(place, ["--plain-ui", "frobnicate"], { DILIGENT_MODEL });
    await program.shown("Unknown command frobnicate. Send it as a prompt? [y/N] ");
    program.type(answer);
    if (isSent) await program.shown("The answer.");
    await program.shown("diligent> ");
    program.type("\x04");
    expect(await program.exitCode).toBe(0);
    expect(sessionIds(place)).toHaveLength(isSent ? 1 : 0);
  });

  test("is sent as a prompt in print mode", async () => {
    writeUserConfig(place, { model: DILIGENT_MODEL });
    for (const args of [["-p", "frobnicate"], ["frobnicate"], ["-p", "list"]]) {
      expect(await runDiligent(place, args)).toMatchObject({ stdout: "The answer.\n", exitCode: 0 });
    }
  });
});

test("is answered directly for help COMMAND and version", async () => {
  for (const [words, options] of [
    [["version"], ["--version"]],
    [["help"], ["--help"]],
    [
      ["help", "doctor"],
      ["doctor", "--help"],
    ],
  ] as const) {
    const [asked, told] = await Promise.all([runDiligent(place, words), runDiligent(place, options)]);
    expect([asked.stdout, asked.stderr, asked.exitCode]).toEqual([told.stdout, "", 0]);
  }
});

test("a mistyped command is reported before a missing key", async () => {
  const { stdout, stderr, exitCode } = await runDiligent(place, ["-p", "doctr"]);
  expect([stdout, exitCode]).toEqual(["", 2]);
  expect(stderr).toBe(
    'diligent: unknown command "doctr"; did you mean diligent doctor? To send it as a prompt: diligent -p -- doctr\n',
  );
});
