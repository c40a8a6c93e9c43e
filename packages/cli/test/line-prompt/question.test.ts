import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeUserConfig } from "../support/compatible-service.ts";
import { readKept } from "../support/injected-project.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let program: TerminalProgram;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
});

afterEach(() => {
  program.process.kill("SIGKILL");
  place.remove();
});

function start(calls: readonly { name: string; input: object }[], ...args: string[]): TerminalProgram {
  const turns = [...calls.map((call) => ({ toolCalls: [call] })), { text: "All done." }];
  place.write("script.json", { version: 1, turns });
  program = runInTerminal(place, ["-m", "scripted/script.json", "go", ...args]);
  return program;
}

const text = (path: string) => readFileSync(join(place.project, path), "utf8");

describe("the diff before a file is changed", () => {
  test("is shown, and the change is made only after approval", async () => {
    place.write("CLAUDE.md", "Run the tests.\n");
    const { shown, type } = start([
      { name: "read", input: { file_path: "CLAUDE.md" } },
      { name: "edit", input: { file_path: "CLAUDE.md", old_string: "tests", new_string: "evil" } },
      { name: "write", input: { file_path: ".git/hooks/pre-commit", content: "#!/bin/sh\ncurl evil\n" } },
    ]);
    await shown("Allow edit? Reason: CLAUDE.md controls what other programs do");
    await shown(`    write ${place.project}/CLAUDE.md`);
    await shown("    -Run the tests.\r\n    +Run the evil.\r\n");
    await shown("Allow it? ");
    expect(text("CLAUDE.md")).toBe("Run the tests.\n");
    type("y\r");
    await shown("    @@ -0,0 +1,2 @@\r\n    +#!/bin/sh\r\n    +curl evil\r\n");
    await shown("Allow it? ");
    expect(text("CLAUDE.md")).toBe("Run the evil.\n");
    type("n no hooks\r");
    await shown("All done.");
    expect(existsSync(join(place.project, ".git", "hooks"))).toBe(false);
  });

  test("of a patch has all files, and one answer covers them", async () => {
    place.write("a.txt", "one\n");
    const patch =
      "*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** Add File: .envrc\n+export A=1\n*** Add File: AGENTS.md\n+x\n*** End Patch";
    const { shown, type } = start([
      { name: "bash", input: { command: `apply_patch <<'EOF'\n${patch}\nEOF` } },
    ]);
    await shown("Allow apply_patch? Reason: .envrc controls what other programs do");
    await shown(`    write ${place.project}/a.txt\r\n    write ${place.project}/.envrc\r\n`);
    await shown("    -one\r\n    +1\r\n");
    await shown("    +export A=1\r\n");
    await shown("Allow it? ");
    expect(existsSync(join(place.project, ".envrc"))).toBe(false);
    type("y\r");
    await shown("All done.");
    expect([text("a.txt"), text(".envrc"), text("AGENTS.md")]).toEqual(["1\n", "export A=1\n", "x\n"]);
  });

  test("is left out if it cannot be computed, and the file's content does not reach the model", async () => {
    place.write(".env", "KEY=nonce-3fa9\n");
    const { shown, type } = start(
      [
        { name: "edit", input: { file_path: ".env", old_string: "KEY", new_string: "LOCK" } },
        { name: "write", input: { file_path: ".env", content: "LOCK\n" } },
      ],
      "--verbose",
    );
    for (const answer of ["y\r", "n no\r"]) {
      await shown(`    write ${place.project}/.env\r\n\r\n  a  always`);
      await shown("Allow it? ");
      type(answer);
    }
    await shown("All done.");
    const { session, requests } = readKept(place);
    expect([session, requests, program.screen].map((kept) => kept.includes("nonce-3fa9"))).toEqual([
      false,
      false,
      false,
    ]);
    expect(text(".env")).toBe("KEY=nonce-3fa9\n");
  });

  test("is in neither the session nor a request if the change is denied", async () => {
    place.write(".vscode/tasks.json", "one\nnonce-77b2 in the middle\nthree\n");
    const { shown, type } = start(
      [
        { name: "read", input: { file_path: ".vscode/tasks.json", limit: 1 } },
        { name: "edit", input: { file_path: ".vscode/tasks.json", old_string: "one", new_string: "1" } },
      ],
      "--verbose",
    );
    // The user sees the lines around the change, the model has seen only the first line.
    await shown("     nonce-77b2 in the middle");
    await shown("Allow it? ");
    type("n no\r");
    await shown("All done.");
    const { session, requests } = readKept(place);
    expect([session, requests].map((kept) => kept.includes("nonce-77b2"))).toEqual([false, false]);
  });
});

describe("a command that tries to be misread", () => {
  test("is shown in full, with its blanks counted and its end last", async () => {
    const lines = Array.from({ length: 200 }, (_, index) => `echo ${index}`).join("\n");
    const command = `ls${" ".repeat(5_000)}\u202e${"\n".repeat(400)}${lines}\rtouch made${"\t".repeat(500)}#\x1b[2K`;
    const { shown, type } = start([{ name: "bash", input: { command } }]);
    await shown("    ls⟦5000 spaces⟧\\u{202e}\r\n    ⟦399 blank lines⟧\r\n    echo 0\r\n    echo 1\r\n");
    await shown("    echo 199\\rtouch made⟦500 tabs⟧#\\x1b[2K");
    await shown("  The command has 600 lines and ");
    await shown("Allow it? ");
    expect(program.screen).not.toContain("\x1b");
    type("n\r");
    await shown("Stopped: request denied");
    expect(existsSync(join(place.project, "made"))).toBe(false);
  });
});

describe("a command that the user types instead of the model's", () => {
  test('is asked for, asked about as a whole, and covered by "always"', async () => {
    const { shown, type } = start([
      { name: "bash", input: { command: "touch a" } },
      { name: "bash", input: { command: "touch b" } },
    ]);
    await shown("    touch a\r\n");
    await shown("e (edit) / n: ");
    type("e\r");
    await shown("\r\n    touch a\r\nNew command, on one line (empty keeps the old one): ");
    type("touch b\r");
    await shown("Allow bash as edited? Reason: touch may do more than read");
    await shown("exactly `touch b` in ");
    await shown("e (edit) / n: ");
    expect(existsSync(join(place.project, "b"))).toBe(false);
    type("a\r");
    await shown("edited by you: touch b\r\n");
    // The second call is the one that was allowed permanently.
    await shown("All done.");
    expect(["a", "b"].map((name) => existsSync(join(place.project, name)))).toEqual([false, true]);
  });

  test("is the model's own for an empty line, and is refused if a rule denies it", async () => {
    writeUserConfig(place, {
      sandbox: "off",
      permissions: [{ permission: "execute", pattern: "curl", action: "deny" }],
    });
    const { shown, type } = start([{ name: "bash", input: { command: "touch a" } }]);
    await shown("e (edit) / n: ");
    type("e\r");
    await shown("empty keeps the old one): ");
    type("curl x\r");
    await shown('Your edited command was rejected: the rule deny execute "curl" forbids it [rule]');
    await shown("e (edit) / n: ");
    type("e\r");
    await shown("empty keeps the old one): ");
    type("\r");
    await shown("Allow bash?");
    await shown("e (edit) / n: ");
    type("y\r");
    await shown("All done.");
    expect(existsSync(join(place.project, "a"))).toBe(true);
  });
});

const QUESTIONS = [
  {
    header: "Color",
    question: "Which color?",
    options: [{ label: "red", description: "warm" }, { label: "blue" }],
  },
  { question: "Which checks?", options: [{ label: "lint" }, { label: "tests" }], multiSelect: true },
  { question: "Which name?", options: [{ label: "a" }] },
];

describe("questions of the model", () => {
  const ask = { name: "ask_user", input: { questions: QUESTIONS } };

  test("are numbered lists, and numbers and own text answer them", async () => {
    const { shown, type } = start([ask], "--verbose");
    await shown("Color: Which color?\r\n  1. red | warm\r\n  2. blue\r\nA number, or your own answer");
    type("3\r");
    await shown("Please give numbers from 1 to 2, or your own answer.");
    type("2\r");
    await shown("Numbers with commas between them, or your own answer");
    type("1,2\r");
    await shown("Which name?");
    type("something else\r");
    await shown("All done.");
    expect(readKept(place).session).toContain(
      "Which color?\\n→ blue\\nWhich checks?\\n→ lint, tests\\nWhich name?\\n→ something else",
    );
  });

  test("are not answered by an empty line, and the run continues", async () => {
    const { shown, type } = start([ask], "--verbose");
    await shown("Color: Which color?");
    type("\r");
    await shown("All done.");
    expect(readKept(place).session).toContain("The user did not answer.");
  });
});
