import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const SOURCE = join(import.meta.dir, "..", "src");
const MAX_LINES = 300;

/** What each folder (or single file) of src may import from the others: a folder, or one file of it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "types.ts": [],
  "event-stream.ts": [],
  "history.ts": ["types.ts"],
  infrastructure: [],
  provider: ["types.ts", "event-stream.ts", "history.ts", "infrastructure"],
  tool: ["types.ts", "infrastructure"],
  knowledge: ["types.ts", "infrastructure", "tool/types.ts"],
  config: ["types.ts", "infrastructure", "tool/types.ts"],
  approval: ["types.ts", "infrastructure", "tool/types.ts"],
  sandbox: ["types.ts", "infrastructure", "tool/types.ts"],
  checkpoint: ["types.ts", "infrastructure", "tool/types.ts"],
  tools: ["types.ts", "tool", "infrastructure", "knowledge"],
  agent: ["types.ts", "event-stream.ts", "provider/types.ts", "tool"],
  session: [
    "types.ts",
    "event-stream.ts",
    "history.ts",
    "provider/types.ts",
    "provider/errors.ts",
    "agent",
    "infrastructure",
  ],
};

interface Import {
  file: string;
  from: string;
}

function sourceFiles(): string[] {
  return [...new Bun.Glob("**/*.ts").scanSync(SOURCE)].filter((file) => !file.endsWith(".d.ts")).sort();
}

function ownImports(file: string): Import[] {
  const text = readFileSync(join(SOURCE, file), "utf8");
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  return specifiers.map((specifier) => ({
    file,
    from: relative(SOURCE, join(SOURCE, dirname(file), specifier)),
  }));
}

const roomOf = (file: string) => file.split("/")[0] ?? file;

function isAllowed({ file, from }: Import): boolean {
  const room = roomOf(file);
  if (room === "index.ts" || room === roomOf(from)) return true;
  return (MAY_IMPORT[room] ?? []).some((allowed) => from === allowed || roomOf(from) === allowed);
}

describe("packages/core/src", () => {
  const files = sourceFiles();

  test("every folder imports only what the table allows", () => {
    const forbidden = files.flatMap(ownImports).filter((entry) => !isAllowed(entry));
    expect(forbidden.map(({ file, from }) => `${file} imports ${from}`)).toEqual([]);
  });

  test("every folder is in the table", () => {
    const unknown = files.map(roomOf).filter((room) => room !== "index.ts" && !(room in MAY_IMPORT));
    expect([...new Set(unknown)]).toEqual([]);
  });

  test(`no file is longer than ${MAX_LINES} lines`, () => {
    const lengths = files.map((file) => ({
      file,
      lines: readFileSync(join(SOURCE, file), "utf8").split("\n").length,
    }));
    expect(lengths.filter(({ lines }) => lines > MAX_LINES)).toEqual([]);
  });

  test("only infrastructure reads the environment, the working directory and the clock, and nothing prints", () => {
    const effects = /process\.(env|cwd|stdout|stderr|exit)\b|\bconsole\.|\bDate\.now\(\)|new Date\(\)/;
    const offenders = files
      .filter((file) => roomOf(file) !== "infrastructure")
      .filter((file) => effects.test(withoutComments(readFileSync(join(SOURCE, file), "utf8"))));
    expect(offenders).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}
