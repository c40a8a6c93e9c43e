import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const SOURCE = join(import.meta.dir, "..", "src");

/** The packages that the sources may import. */
const PACKAGES = new Set([
  "@agentclientprotocol/sdk",
  "@diligent/core/config",
  "@diligent/core/cost",
  "@diligent/core/definitions",
  "@diligent/core/harness",
  "@diligent/core/history",
  "@diligent/core/interactive",
  "@diligent/core/light",
  "@diligent/core/mcp",
  "@diligent/core/plugins",
  "@diligent/core/mcp-sign-in",
  "@diligent/core/permissions",
  "@diligent/core/protocol",
  "@diligent/core/replay",
  "@diligent/core/secrets",
  "@diligent/core/review",
  "@diligent/core/run",
  "@diligent/core/runs",
  "@diligent/core/sessions",
  "@diligent/core/worktrees",
  "ajv",
  "ajv/dist/2019.js",
  "ajv/dist/2020.js",
  "chalk",
  "jsonc-parser",
  "marked",
  "marked-terminal",
]);

/** The terminal library, file by file: all of it at once would slow down the start. */
const TERMINAL_LIBRARY = /^@earendil-works\/pi-tui\/dist\/[\w/-]+\.js$/;

/**
 * Modules that only compute values: no disk, process, network or clock. The same holds for all files that
 * they import.
 */
const PURE = [
  /^arguments\//,
  /^print\/(output|summary)\.ts$/,
  /^text\//,
  /^errors\.ts$/,
  /^tui\/(apply-|blocks|effects|keys-to-effects|live-region|markdown|shell-call|text|theme|transcript|view\.ts)/,
  /^tui\/approval\/(?!prompter)/,
  /^tui\/keys\/(?!keybindings)/,
  /^tui\/pickers\/picker(-view)?\.ts$/,
];

/** Reads or changes something beyond its arguments; of Bun's API, only text measurement does not. */
const MACHINE =
  /\bBun\.(?!stringWidth\b|stripANSI\b)\w+|\bprocess\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bset(?:Timeout|Interval|Immediate)\b|\bperformance\.|\bfetch\(/;
const CLOCK = /^import \{[^}]*\bnow\b[^}]*\} from "@diligent\/core/m;

interface Import {
  file: string;
  /** One of our files relative to src, or the specifier itself. */
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

/** `{ type A, type B }`, which does not exist at runtime. */
function importsTypesOnly(names: string): boolean {
  const inner = /^\{([\s\S]*)\}\s*$/.exec(names.trim())?.[1];
  const parts = (inner ?? "").split(",").map((part) => part.trim());
  return inner !== undefined && parts.filter((part) => part !== "").every((part) => part.startsWith("type "));
}

/** Everything that is loaded before the program has parsed its arguments. */
function loadedBy(entry: string): Import[] {
  return [...closureOf([entry]).values()].flat();
}

/** These files and all that they load, each with its own imports. */
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

  test("finds imports at all", () => {
    expect(imports.map(show)).toContain("print/print.ts imports session/start-session.ts");
    expect(importsOf("run-cli.ts").find(({ from }) => from === "print/print.ts")?.kind).toBe("dynamic");
    expect(importsOf("io/hidden-line.ts")).toEqual([]);
    expect(importsOf("errors.ts").map(({ kind }) => kind)).toEqual(["type", "type", "static"]);
  });

  test("imports only public names from other packages", () => {
    const foreign = imports.filter(
      ({ from }) => !from.startsWith("node:") && !/\.(ts|json|md|txt)$/.test(from),
    );
    const isKnown = (from: string) => PACKAGES.has(from) || TERMINAL_LIBRARY.test(from);
    expect(foreign.filter(({ from }) => !isKnown(from)).map(show)).toEqual([]);
    const outside = imports.filter(({ from }) => from.startsWith("..") && from !== "../package.json");
    expect(outside.map(show)).toEqual([]);
  });

  test("lets pure modules import nothing that touches the machine", () => {
    const pure = closureOf(files.filter((file) => PURE.some((pattern) => pattern.test(file))));
    expect([...pure.keys()]).toContain("tui/approval/view.ts");
    const imported = [...pure.values()].flat().filter(({ from }) => from.startsWith("node:"));
    expect(imported.map(show)).toEqual([]);
    const touching = [...pure.keys()].filter((file) => {
      const text = withoutComments(read(file));
      return MACHINE.test(text) || CLOCK.test(text);
    });
    expect(touching).toEqual([]);
  });

  test("loads nothing heavy for --version, --help, --list and usage errors", () => {
    for (const entry of ["index.ts", "run-cli.ts", "commands/list.ts"]) {
      const heavy = loadedBy(entry).filter(
        ({ from }) =>
          !from.endsWith(".ts") &&
          !/^(node:|\.\.\/package\.json|@diligent\/core\/(light|sessions)$)/.test(from),
      );
      expect(heavy.map(show)).toEqual([]);
    }
  });

  test("loads the code of the update check only for a check", () => {
    const loaded = closureOf(["print/print.ts", "tui/app.ts", "line-prompt/line-prompt.ts"]);
    const ofUpdates = [...loaded.keys()].filter((file) => file.startsWith("update/"));
    expect(ofUpdates).toEqual(["update/update-check.ts"]);
  });

  test("keeps code shared by screen and line prompt independent of both", () => {
    const shared = imports.filter(({ file }) =>
      /^session\/(conversation|session-controller)\.ts$/.test(file),
    );
    expect(shared.map(show)).toContain("session/session-controller.ts imports session/start-session.ts");
    expect(shared.filter(({ from }) => /^(?:tui|line-prompt)\//.test(from)).map(show)).toEqual([]);
  });

  test("lets only the entry and process-io end the process or read its global state", () => {
    const offenders = files
      .filter((file) => !["index.ts", "main.ts", "io/process-io.ts"].includes(file))
      .filter((file) =>
        /\bprocess\.(exit|env|cwd|stdout|stderr|stdin|on|argv)\b|\bconsole\.(log|error|warn|info|debug)\b/.test(
          withoutComments(read(file)),
        ),
      );
    expect(offenders).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}
