import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KNOWN_SERVERS } from "../../../src/extensions/language-servers/known-servers.ts";
import { createPatientStage } from "../../support/language-server-stage.ts";
import { call, createServerStage } from "../../support/mcp-stage.ts";

const SERVER = join(import.meta.dir, "../../support/language-server.ts");
const TEXT = "const word = 1;\nBAD(thing) word\n";

/** Asks a test server about `a.txt`, and returns the outputs. */
async function ask(questions: object[], ...behaviours: string[]) {
  const stage = createPatientStage();
  // Without the servers that this machine has.
  const others = Object.fromEntries(KNOWN_SERVERS.map(({ name }) => [name, false]));
  stage.environment.PATH = "/usr/bin:/bin";
  const command = [process.execPath, SERVER, "pull", ...behaviours];
  stage.configure({ sandbox: "off", lsp: { ...others, test: { command, extensions: [".txt"] } } });
  writeFileSync(join(stage.project, "a.txt"), TEXT);
  writeFileSync(join(stage.project, "b.md"), "text\n");
  const played = await stage.play([
    ...questions.map((question) => call("lsp", { ...question })),
    { text: "Done." },
  ]);
  expect(readFileSync(join(stage.project, "a.txt"), "utf8")).toBe(TEXT);
  return { ...played, outputs: played.results.map(({ output }) => output) };
}

const file_path = "a.txt";

describe("lsp", () => {
  test("answers with places as path, line and column, counted from 1, and changes no file", async () => {
    const { outputs, requests } = await ask([
      { action: "definition", file_path, line: 2, column: 12 },
      { action: "definition", file_path, line: 2, query: "word" },
      { action: "references", file_path, line: 1, query: "word" },
      { action: "symbols", file_path },
      { action: "symbols", query: "find_me" },
      { action: "diagnostics", file_path },
    ]);
    expect(outputs).toEqual([
      "a.txt:2:12",
      "a.txt:2:12",
      "a.txt:1:7\n/usr/lib/outside.d.ts:1:7",
      "1: class Thing\n  2: method act",
      "a.txt:3:1 function find_me",
      "a.txt:2:1 thing is bad (7)",
    ]);
    expect(requests[0]?.tools).toContain("lsp");
  });

  test("leaves control characters out of what a server says about a name", async () => {
    const { outputs } = await ask([{ action: "hover", file_path, line: 1, query: "word" }]);
    expect(outputs).toEqual(["const word: string[31m 6"]);
  });

  test.each([
    [{ action: "definition", file_path }, "Give line, and column or the name in that line as query."],
    [{ action: "definition", file_path, line: 1 }, "Give column, or the name in that line as query."],
    [{ action: "definition", file_path, line: 9, column: 1 }, "The file has no line 9."],
    [{ action: "definition", file_path, line: 1, column: 99 }, "Line 1 has no column 99: const word = 1;"],
    [
      { action: "definition", file_path, line: 1, query: "wort" },
      "Line 1 does not contain wort: const word = 1;",
    ],
    [{ action: "rename", file_path, line: 1, query: "word" }, "Give new_name."],
    [{ action: "hover", line: 1, column: 1 }, "Give file_path: hover is about a file."],
    [{ action: "symbols" }, "Give file_path for the symbols of a file, or query for those of the project."],
    [
      { action: "symbols", query: "x" },
      "No language server runs yet. Give a file_path of the language once, then try again.",
    ],
    [
      { action: "symbols", file_path: "b.md" },
      "There is no language server for this file. There are: test (.txt).",
    ],
    [
      { action: "symbols", file_path: "none.txt" },
      "The file does not exist, is larger than 1 MB, or is not UTF-8.",
    ],
  ])("says what is missing in %j", async (question, message) => {
    const { results } = await ask([question]);
    expect(results.map(({ output, isError }) => [output, isError])).toEqual([[message, true]]);
  });

  test("says so where a server knows nothing, hangs no longer than its limit, and is gone", async () => {
    const question = { action: "definition", file_path, line: 1, query: "word" };
    expect((await ask([question], "lost")).outputs).toEqual(["Nothing was found."]);
    const [output] = (await ask([question], "garbage")).outputs;
    expect(output).toContain("It does not speak the language server protocol.");
  });

  test("is offered only where a server is configured, or found for a language of the project", async () => {
    const stage = createServerStage();
    stage.configure({});
    const offered = async () => (await stage.play([{ text: "Done." }])).requests[0]?.tools.includes("lsp");
    stage.environment.PATH = "/usr/bin:/bin";
    expect(await offered()).toBe(false);
    const program = join(stage.home, "gopls");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    stage.environment.PATH = `${stage.home}:/usr/bin:/bin`;
    expect(await offered()).toBe(false);
    writeFileSync(join(stage.project, "go.mod"), "module x\n");
    expect(await offered()).toBe(true);
    stage.configure({ lsp: { go: false } });
    expect(await offered()).toBe(false);
  });
});
