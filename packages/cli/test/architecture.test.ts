import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { measureFunctions } from "../../core/test/support/function-lengths.ts";

const SOURCE = join(import.meta.dir, "..", "src");
const MAX_LINES = 300;
const MAX_FUNCTION_LINES = 60;

/** What the sources may import that is not theirs. */
const PACKAGES = new Set([
  "@diligent/core",
  "@diligent/core/anthropic",
  "@diligent/core/compatible",
  "@diligent/core/interactive",
  "@diligent/core/light",
  "@diligent/core/openai",
  "@diligent/core/run",
  "@diligent/core/scripted",
  "@diligent/core/sessions",
  "chalk",
  "jsonc-parser",
  "marked",
  "marked-terminal",
]);

/** The terminal library, file by file: all of it at once would cost the start. */
const TERMINAL_LIBRARY = /^@earendil-works\/pi-tui\/dist\/[\w/-]+\.js$/;

/** Parts that only turn values into values: no disk, no process, no network, no clock. So are all files they import. */
const PURE = [
  /^arguments\//,
  /^output\//,
  /^(run-summary|progress-lines|describe-stop|terminal-text|exit-codes|usage-error)\.ts$/,
  /^tui\/(apply-|blocks|edit-line|effects|live-region|markdown|parts|text|theme|tools|transcript|view\.ts)/,
  /^tui\/approval\/(?!approval-desk)/,
  /^tui\/keys\/(?!keybindings-file)/,
  /^tui\/pickers\/(apply-.*|.*-(view|items))\.ts$/,
  /^tui\/welcome\/welcome-lines\.ts$/,
];

/** Reads or changes something beyond its arguments; of Bun only what measures text does not. */
const MACHINE =
  /\bBun\.(?!stringWidth\b|stripANSI\b)\w+|\bprocess\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bset(?:Timeout|Interval|Immediate)\b|\bperformance\.|\bfetch\(/;
const CLOCK = /^import \{[^}]*\bnow\b[^}]*\} from "@diligent\/core/m;

/** Files that import each other: blocks of Markdown hold lists, whose items hold blocks. */
const CIRCLE = ["tui/markdown/layout-blocks.ts", "tui/markdown/layout-list.ts"];

interface Import {
  file: string;
  /** A file of ours relative to src, or the specifier as it stands. */
  from: string;
  kind: "static" | "dynamic" | "type";
}

function sourceFiles(): string[] {
  return [...new Bun.Glob("**/*.ts").scanSync(SOURCE)].filter((file) => !file.endsWith(".d.ts")).sort();
}

function read(file: string): string {
  return readFileSync(join(SOURCE, file), "utf8");
}

function importsOf(file: string): Import[] {
  const text = read(file);
  const resolve = (specifier: string) =>
    specifier.startsWith(".") ? relative(SOURCE, join(SOURCE, dirname(file), specifier)) : specifier;
  const statements = [...text.matchAll(/^(?:import|export)\s+(type\s+)?([^;"]*?)from\s+"([^"]+)"/gm)];
  const bare = [...text.matchAll(/^import\s+"([^"]+)"/gm)];
  const dynamic = [...text.matchAll(/\bimport\("([^"]+)"\)/g)];
  return [
    ...statements.map(([, type, names = "", from = ""]) => ({
      file,
      from: resolve(from),
      kind: type !== undefined || importsTypesOnly(names) ? ("type" as const) : ("static" as const),
    })),
    ...bare.map(([, from = ""]) => ({ file, from: resolve(from), kind: "static" as const })),
    ...dynamic.map(([, from = ""]) => ({ file, from: resolve(from), kind: "dynamic" as const })),
  ];
}

/** `{ type A, type B }`, which is gone when the program runs. */
function importsTypesOnly(names: string): boolean {
  const inner = /^\{([\s\S]*)\}\s*$/.exec(names.trim())?.[1];
  const parts = (inner ?? "").split(",").map((part) => part.trim());
  return inner !== undefined && parts.filter((part) => part !== "").every((part) => part.startsWith("type "));
}

/** Everything that is loaded before the program has looked at what it was asked. */
function loadedBy(entry: string): Import[] {
  return [...closureOf([entry]).values()].flat();
}

/** These files and all that are loaded with them, each with what it imports itself. */
function closureOf(entries: readonly string[]): Map<string, Import[]> {
  const loaded = new Map<string, Import[]>();
  const visit = (file: string) => {
    if (loaded.has(file)) return;
    const imports = importsOf(file).filter(({ kind }) => kind === "static");
    loaded.set(file, imports);
    for (const { from } of imports) if (from.endsWith(".ts")) visit(from);
  };
  entries.forEach(visit);
  return loaded;
}

const show = ({ file, from }: Import) => `${file} imports ${from}`;

describe("packages/cli/src", () => {
  const files = sourceFiles();
  const imports = files.flatMap(importsOf);

  test("imports are found at all", () => {
    expect(imports.map(show)).toContain("print.ts imports open-session.ts");
    expect(importsOf("run-cli.ts").find(({ from }) => from === "print.ts")?.kind).toBe("dynamic");
    expect(importsOf("line-prompt/read-lines.ts")).toEqual([]);
    expect(importsOf("write-line.ts").map(({ kind }) => kind)).toEqual(["type", "static"]);
  });

  test("of other packages only public names are imported", () => {
    const foreign = imports.filter(
      ({ from }) => !from.startsWith("node:") && !/\.(ts|json|md|txt)$/.test(from),
    );
    const isKnown = (from: string) => PACKAGES.has(from) || TERMINAL_LIBRARY.test(from);
    expect(foreign.filter(({ from }) => !isKnown(from)).map(show)).toEqual([]);
    const outside = imports.filter(({ from }) => from.startsWith("..") && from !== "../package.json");
    expect(outside.map(show)).toEqual([]);
  });

  test("what only turns values into values imports nothing that touches the machine", () => {
    const pure = closureOf(files.filter((file) => PURE.some((pattern) => pattern.test(file))));
    expect([...pure.keys()]).toContain("tui/approval/approval-view.ts");
    const imported = [...pure.values()].flat().filter(({ from }) => from.startsWith("node:"));
    expect(imported.map(show)).toEqual([]);
    const touching = [...pure.keys()].filter((file) => {
      const text = withoutComments(read(file));
      return MACHINE.test(text) || CLOCK.test(text);
    });
    expect(touching).toEqual([]);
  });

  test("no file is loaded by one that it loads itself", () => {
    const inCircle = files.filter((file) => {
      const loaded = importsOf(file).flatMap(({ kind, from }) =>
        kind === "static" && from.endsWith(".ts") ? [from] : [],
      );
      return closureOf(loaded).has(file);
    });
    expect(inCircle).toEqual(CIRCLE);
  });

  test("--version, --help, --list and a mistake load nothing heavy", () => {
    for (const entry of ["index.ts", "run-cli.ts", "commands/list.ts"]) {
      const heavy = loadedBy(entry).filter(
        ({ from }) =>
          !from.endsWith(".ts") &&
          !/^(node:|\.\.\/package\.json|@diligent\/core\/(light|sessions)$)/.test(from),
      );
      expect(heavy.map(show)).toEqual([]);
    }
  });

  test("what looks for a newer version is loaded by nothing but a look", () => {
    const loaded = closureOf(["print.ts", "tui/app.ts", "line-prompt/line-prompt.ts"]);
    const ofUpdates = [...loaded.keys()].filter((file) => file.startsWith("update/"));
    expect(ofUpdates).toEqual(["update/update-look.ts"]);
  });

  test("what the screen and the line prompt share knows neither of them", () => {
    const shared = imports.filter(({ file }) => file.startsWith("conversation/"));
    expect(shared.map(show)).toContain("conversation/session-holder.ts imports open-session.ts");
    expect(shared.filter(({ from }) => /^(?:tui|line-prompt)\//.test(from)).map(show)).toEqual([]);
  });

  test("only the entry and the process behind it end the process or read its global state", () => {
    const offenders = files
      .filter((file) => !["index.ts", "main.ts", "process-io.ts"].includes(file))
      .filter((file) =>
        /\bprocess\.(exit|env|cwd|stdout|stderr|stdin|on|argv)\b|\bconsole\.(log|error|warn|info|debug)\b/.test(
          withoutComments(read(file)),
        ),
      );
    expect(offenders).toEqual([]);
  });

  test(`no file is longer than ${MAX_LINES} lines`, () => {
    const lengths = files.map((file) => ({ file, lines: read(file).split("\n").length }));
    expect(lengths.filter(({ lines }) => lines > MAX_LINES)).toEqual([]);
  });

  test(`no function is longer than ${MAX_FUNCTION_LINES} lines`, () => {
    const measured = files.flatMap((file) => measureFunctions(read(file)).map((each) => ({ file, ...each })));
    expect(measured.length).toBeGreaterThan(1_000);
    expect(measured.filter(({ lines }) => lines > MAX_FUNCTION_LINES)).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}
