import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../../scripts/shipped-program.ts";
import { startInPty } from "../support/pty-program.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

const EXAMPLE = readFileSync(join(REPOSITORY, "packages", "core", "examples", "extension.ts"), "utf8");

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("../home/.config/diligent/extensions/example.ts", EXAMPLE);
  place.configure({ sandbox: "off", extensions: ["extensions/example.ts"] });
});

afterEach(() => place.remove());

const script = (...turns: object[]) => place.write("script.json", { version: 1, turns });
const MODEL = ["-m", "scripted/script.json"];

test("models that an extension adds are listed and can be chosen by their names", async () => {
  place.write(
    "../home/.config/diligent/parrot.ts",
    `export default (harness) => harness.registerProvider({
      name: "parrot",
      models: [{ id: "one", provider: "parrot", contextWindow: 32_000, maxOutputTokens: 1_000 }],
      stream: () => { throw new Error("unused"); },
    });`,
  );
  place.configure({ extensions: ["parrot.ts"], model: "parrot/one" });
  const { stdout, stderr } = await runDiligent(place, ["models", "--json"]);
  expect(stderr).toBe("");
  const models: { id: string }[] = JSON.parse(stdout);
  expect(models.filter(({ id }) => id.startsWith("parrot"))).toEqual([
    expect.objectContaining({
      ...{ id: "parrot/one", provider: "parrot", contextWindow: 32_000, hasKey: true, isConfigured: true },
    }),
  ]);
  const table = await runDiligent(place, ["models"]);
  expect(table.stdout).toContain("parrot/one");
});

describe("the example of an extension", () => {
  test("in the shipped program: its tool runs without a question, its hook refuses, its command answers", async () => {
    script(
      { toolCalls: [{ name: "count_words", input: { text: "one two three" } }] },
      { toolCalls: [{ name: "bash", input: { command: "git push" } }] },
      { text: "Done." },
    );
    const args = [...MODEL, "--approval", "auto", "--output-format", "stream-json", "-p", "Go."];
    const { stdout, stderr, exitCode } = await runDiligent(place, args);
    expect([stderr, exitCode]).toEqual(["", 0]);
    const results = parseLines(stdout).filter(({ type }) => type === "tool_end");
    expect(results.map(({ output }) => output)).toEqual([
      "3 words",
      expect.stringContaining("Nothing is pushed from this machine."),
    ]);
    const command = await runDiligent(place, [...MODEL, "-p", "/shout hello there"]);
    expect(command.stdout).toBe("HELLO THERE\n");
  });

  test("on the screen: a broken one is reported by its file, and the others work", async () => {
    place.write("../home/.config/diligent/broken.ts", "throw new Error('no \\u001b[2Jpaper');");
    const tool = `{ name: "loud", description: "Loud.", parameters: { type: "object" }, readOnly: true, execute: () => "x" }`;
    const renderer = `{ title: () => "\\u001b[2Jred", summary() { throw new Error("no"); } }`;
    place.write(
      "../home/.config/diligent/loud.ts",
      `export default (h) => { h.registerTool(${tool}); h.registerRenderer("loud", ${renderer}); };`,
    );
    place.configure({ sandbox: "off", extensions: ["broken.ts", "extensions/example.ts", "loud.ts"] });
    const text = "one two three four five six";
    const calls = [
      { name: "count_words", input: { text } },
      { name: "loud", input: {} },
    ];
    script({ toolCalls: calls }, { text: "Hello." });
    await using program = startInPty(place, MODEL, { rows: 40, columns: 120 });
    await program.waitFor("The extension broken.ts is not used: no");
    program.send("/shout quiet\r");
    await program.waitFor("QUIET");
    program.send("/extensions\r");
    await program.waitFor("tool count_words, /shout, renderer of count_words, hook call");
    program.send("Hi.\r");
    await program.waitFor("Hello.");
    await program.waitFor("count_words one two three four f · 6 words");
    await program.waitFor(/✓ loud \\x1b\[2Jred\s*$/m);
  });
});

test("an extension of a project does not run before trust, neither in the program nor in its lists", async () => {
  place.configure({ sandbox: "off" });
  const trap = `import { writeFileSync } from "node:fs";\nwriteFileSync(import.meta.dir + "/ran", "");\nexport default () => {};\n`;
  place.write("tools/trap.ts", trap);
  place.write("diligent.jsonc", { extensions: ["tools/trap.ts"] });
  script({ text: "Hello." });
  const { stderr } = await runDiligent(place, [...MODEL, "-p", "Hi."]);
  expect(stderr).toContain("1 extension of this project waits for your trust and is not used");
  const trust = await runDiligent(place, ["trust", "--yes"]);
  expect(trust.stdout).toContain(
    "  Extensions: code that runs inside of diligent, without a sandbox\n    tools/trap.ts",
  );
  for (const args of [["config"], ["skills"], ["doctor", "--offline"], ["mcp"]])
    await runDiligent(place, args);
  expect(existsSync(join(place.project, "tools", "ran"))).toBe(false);
  await runDiligent(place, [...MODEL, "-p", "Hi."]);
  expect(existsSync(join(place.project, "tools", "ran"))).toBe(true);
});
