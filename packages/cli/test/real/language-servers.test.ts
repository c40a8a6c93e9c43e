import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testUnless } from "../../../core/test/support/test-unless.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const PACKAGES = [
  ...["typescript-language-server@6.0.2", "typescript@5.9.3", "pyright@1.1.414"],
  ...["vscode-langservers-extracted@4.10.0", "yaml-language-server@2.0.0"],
];

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

/** An error that an edit brings beside one that was there before, in line 2. */
interface ServerCase {
  name: string;
  file: string;
  text: string;
  change: readonly [before: string, after: string];
  error: string;
  hover: string;
  obstacle?: string | undefined;
}

const CASES: readonly ServerCase[] = [
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
  {
    name: "json",
    file: "a.json",
    text: '{"size": 1,\n"old" 2}\n',
    change: ["1,", "one,"],
    error: "a.json:1:10 Value expected (516)",
    hover: "Nothing is known about it.",
  },
  {
    name: "yaml",
    file: "a.yaml",
    text: "size: 1\nold: @2\n",
    change: ["size: 1", "size: @1"],
    error: "a.yaml:1:7 Plain value cannot start with reserved character @",
    hover: "Nothing is known about it.",
  },
  {
    name: "css",
    file: "a.css",
    text: "size { color: red }\nold { color }\n",
    change: ["color: red", "color:"],
    error: "a.css:1:15 property value expected (css-propertyvalueexpected)",
    hover: "<size>",
  },
  {
    name: "html",
    file: "a.html",
    text: "<style>size { color: red }</style>\n<style>old { color }</style>\n",
    change: ["color: red", "color:"],
    error: "a.html:1:22 property value expected (css-propertyvalueexpected)",
    hover: "<size>",
  },
  {
    name: "go",
    file: "a.go",
    text: "package a; const size int = 1\nconst old int = true\n",
    change: ["= 1", '= "one"'],
    error: 'a.go:1:29 cannot use "one" (untyped string constant) as int value in constant declaration',
    hover: "const size int",
    obstacle: Bun.which("gopls") === null ? "gopls is not installed" : undefined,
  },
];

/** Plays calls in the project, and returns their outputs. */
async function play(calls: readonly { name: string; input: object }[]): Promise<string[]> {
  const script = join(place.home, "script.json");
  const turns = [...calls.map((call) => ({ toolCalls: [call] })), { text: "Done." }];
  writeFileSync(script, JSON.stringify({ version: 1, turns }));
  const run = await runDiligent(
    place,
    ["-p", "Go.", "-m", `scripted/${script}`, "--output-format", "stream-json"],
    { timeoutMs: 150_000 },
  );
  const results = parseLines(run.stdout).filter(({ type }) => type === "tool_end");
  return results.map(({ output }) => String(output));
}

const lsp = (input: object) => ({ name: "lsp", input });

for (const { name, file, text, change, error, hover, obstacle } of CASES)
  testUnless(obstacle)(
    `the server for ${name} says which error an edit brought, and only that`,
    async () => {
      place.write(file, text);
      const [old_string, new_string] = change;
      const outputs = await play([
        { name: "read", input: { file_path: file } },
        // The server is started, and has looked at the project, before the edit.
        lsp({ action: "hover", file_path: file, line: 1, query: "size" }),
        lsp({ action: "diagnostics", file_path: file }),
        { name: "edit", input: { file_path: file, old_string, new_string } },
      ]);
      expect(outputs[1]).toContain(hover);
      expect(outputs[2]).toContain(`${file}:2:`);
      expect(outputs[3]).toContain(`New error since this change, by the language server ${name}:\n${error}`);
      expect(outputs[3]).not.toContain(`${file}:2:`);
      const left = Bun.spawnSync(["pgrep", "-f", place.project]);
      expect(left.stdout.toString()).toBe("");
    },
    180_000,
  );

test.each([
  {
    name: "typescript",
    files: {
      "one.ts": "export function total(a: number) {\n  return a;\n}\n",
      "two.ts": 'import { total } from "./one.ts";\nconst totals = { total };\n// total\ntotal(1);\n',
    },
    after: {
      "one.ts": "export function sum(a: number) {\n  return a;\n}\n",
      "two.ts": 'import { sum } from "./one.ts";\nconst totals = { total: sum };\n// total\nsum(1);\n',
    },
  },
  {
    name: "python",
    files: {
      "one.py": "def total(a):\n    return a\n",
      "two.py": 'from one import total\n\n# total\nprint(total(1), "total")\n',
    },
    after: {
      "one.py": "def sum(a):\n    return a\n",
      "two.py": 'from one import sum\n\n# total\nprint(sum(1), "total")\n',
    },
  },
])(
  "the server for $name renames in two files, and what is only a like word stays",
  async ({ files, after }) => {
    for (const [file, text] of Object.entries(files)) place.write(file, text);
    const [file = ""] = Object.keys(files);
    const outputs = await play([
      lsp({ action: "rename", file_path: file, line: 1, query: "total", new_name: "sum" }),
    ]);
    expect(outputs[0]).toStartWith("Renamed to sum in ");
    const renamed = Object.keys(files).map((name) => [name, readFileSync(join(place.project, name), "utf8")]);
    expect(Object.fromEntries(renamed)).toEqual(after);
  },
  180_000,
);
