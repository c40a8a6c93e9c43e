import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const PACKAGES = ["typescript-language-server@6.0.2", "typescript@5.9.3", "pyright@1.1.414"];

const place = createTemporaryProject();
afterAll(() => place.remove());

beforeAll(async () => {
  place.write("package.json", { private: true });
  const added = Bun.spawnSync([process.execPath, "add", "--exact", "--ignore-scripts", ...PACKAGES], {
    cwd: place.project,
    stdout: "ignore",
    stderr: "pipe",
  });
  if (added.exitCode !== 0) throw new Error(`The packages cannot be installed: ${added.stderr}`);
  place.write("tsconfig.json", { compilerOptions: { strict: true } });
  const trusted = await runDiligent(place, ["trust", "--yes"]);
  expect(trusted.exitCode).toBe(0);
}, 300_000);

test.each([
  {
    name: "typescript",
    file: "a.ts",
    text: "export const size: number = 1;\nexport const old: number = true;\n",
    change: ["= 1;", '= "one";'],
    error: "a.ts:1:14 Type 'string' is not assignable to type 'number'. (ts2322)",
    hover: "const size: number",
  },
  {
    name: "python",
    file: "a.py",
    text: "size: int = 1\nold: int = None\n",
    change: ["= 1", '= "one"'],
    error: 'a.py:1:13 Type "Literal[\'one\']" is not assignable to declared type "int"',
    hover: "(variable) size",
  },
])(
  "the server for $name of a trusted project says which error an edit brought, and only that",
  async ({ name, file, text, change: [before, after], error, hover }) => {
    place.write(file, text);
    const ask = { file_path: file, line: 1, query: "size" };
    const script = join(place.home, "script.json");
    const turns = [
      { toolCalls: [{ name: "read", input: { file_path: file } }] },
      // The server is started, and has looked at the project, before the edit.
      { toolCalls: [{ name: "lsp", input: { action: "hover", ...ask } }] },
      { toolCalls: [{ name: "lsp", input: { action: "diagnostics", file_path: file } }] },
      { toolCalls: [{ name: "edit", input: { file_path: file, old_string: before, new_string: after } }] },
      { text: "Done." },
    ];
    writeFileSync(script, JSON.stringify({ version: 1, turns }));
    const run = await runDiligent(place, [
      ...["-p", "Go.", "-m", `scripted/${script}`, "--output-format", "stream-json"],
    ]);
    const results = parseLines(run.stdout).filter(({ type }) => type === "tool_end");
    const outputs = results.map(({ output }) => String(output));
    expect(outputs[1]).toContain(hover);
    expect(outputs[2]).toContain(`${file}:2:`);
    expect(outputs[3]).toContain(`New error since this change, by the language server ${name}:\n${error}`);
    expect(outputs[3]).not.toContain(`${file}:2:`);
    const left = Bun.spawnSync(["pgrep", "-f", place.project]);
    expect(left.stdout.toString()).toBe("");
  },
  180_000,
);
