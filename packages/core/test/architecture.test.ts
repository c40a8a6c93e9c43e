import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { loadedFiles } from "./support/loaded-files.ts";

const SOURCE = join(import.meta.dir, "..", "src");

/** What each folder (or single file) of src may import from the others: a folder, or one file of it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "types.ts": [],
  "event-stream.ts": [],
  "history.ts": ["types.ts"],
  infrastructure: [],
  provider: ["types.ts", "event-stream.ts", "history.ts", "infrastructure"],
  tool: ["types.ts", "history.ts", "infrastructure"],
  knowledge: ["types.ts", "infrastructure", "tool/types.ts"],
  config: ["types.ts", "infrastructure", "tool/types.ts"],
  approval: ["types.ts", "infrastructure", "tool/types.ts"],
  sandbox: ["types.ts", "infrastructure", "tool/types.ts"],
  checkpoint: ["types.ts", "infrastructure", "tool/types.ts"],
  jobs: ["types.ts", "infrastructure"],
  "extensions/definitions": ["types.ts", "infrastructure"],
  "extensions/prompt-commands": [
    "types.ts",
    "infrastructure",
    "extensions/definitions",
    "config/trust-items.ts",
  ],
  "extensions/skills": [
    "types.ts",
    "infrastructure",
    "extensions/definitions",
    "config/trust-items.ts",
    "extensions/prompt-commands",
    "tool/types.ts",
    "tools",
  ],
  "extensions/mcp": [
    "types.ts",
    "infrastructure",
    "tool",
    "jobs",
    "config",
    "sandbox",
    "extensions/definitions",
    "harness/types.ts",
    "harness/errors.ts",
  ],
  "extensions/cost": [
    "types.ts",
    "history.ts",
    "infrastructure",
    "config/instructions.ts",
    "config/system-prompt.ts",
    "config/knowledge-instruction.md",
    "provider",
    "agent/budget.ts",
    "agent/cost.ts",
    "session",
    "harness/types.ts",
  ],
  "extensions/modules": [
    "types.ts",
    "infrastructure",
    "config",
    "extensions/definitions",
    "agent/types.ts",
    "tool/types.ts",
    "harness/types.ts",
  ],
  "extensions/plugins": [
    "infrastructure",
    "config",
    "extensions/definitions",
    "extensions/skills",
    "extensions/prompt-commands",
    "extensions/agents",
    "extensions/hooks",
    "extensions/mcp",
    "harness/types.ts",
  ],
  tools: ["types.ts", "tool", "infrastructure", "knowledge", "jobs"],
  "extensions/rules": [
    "infrastructure",
    "config",
    "approval",
    "agent/types.ts",
    "harness/types.ts",
    "extensions/definitions",
    "extensions/evidence",
  ],
  "extensions/dry-run": ["types", "infrastructure", "tool", "tools", "agent/types.ts", "harness/types.ts"],
  "extensions/language-servers": [
    "types.ts",
    "infrastructure",
    "tool",
    "tools",
    "config",
    "sandbox",
    "harness/types.ts",
  ],
  "extensions/evidence": ["infrastructure", "approval", "agent/types.ts", "harness/types.ts"],
  agent: [
    "types.ts",
    "event-stream.ts",
    "history.ts",
    "provider/types.ts",
    "tool",
    "extensions/evidence/types.ts",
  ],
  session: [
    "types.ts",
    "event-stream.ts",
    "history.ts",
    "provider/types.ts",
    "provider/errors.ts",
    "agent",
    "infrastructure",
  ],
  "extensions/hooks": [
    "types.ts",
    "infrastructure",
    "config",
    "extensions/definitions",
    "agent/types.ts",
    "harness/types.ts",
  ],
  "extensions/agents": [
    "types.ts",
    "infrastructure",
    "tool",
    "tools",
    "jobs",
    "config",
    "extensions/definitions",
    "provider/types.ts",
    "agent/types.ts",
    "session/manager.ts",
  ],
  "extensions/review": [
    "types.ts",
    "infrastructure",
    "approval/reads.ts",
    "config/loader.ts",
    "extensions/agents",
  ],
  "extensions/replay": [
    "types.ts",
    "infrastructure",
    "provider",
    "tool",
    "agent/types.ts",
    "agent/budget.ts",
    "session",
  ],
  "extensions/runs": ["infrastructure", "agent/types.ts", "harness/types.ts"],
  "extensions/worktrees": ["infrastructure", "checkpoint/types.ts"],
  "extensions/secrets": ["infrastructure"],
  // Composition: it may import everything, and nothing but the faces imports it.
  harness: ["*"],
};

/** What the outside may import; they only hand names on. */
const FACES: ReadonlySet<string> = new Set([
  "config.ts",
  "faces",
  "index.ts",
  "providers.ts",
  "sessions.ts",
  "testing.ts",
  "tools.ts",
]);

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

/** The folder, or the single file, of src; each kind of extension is a folder of its own. */
const roomOf = (file: string) => /^extensions\/[^/]+|[^/]+/.exec(file)?.[0] ?? file;

function isAllowed({ file, from }: Import): boolean {
  const room = roomOf(file);
  if (FACES.has(room) || room === roomOf(from)) return true;
  return (MAY_IMPORT[room] ?? []).some(
    (allowed) => allowed === "*" || from === allowed || roomOf(from) === allowed,
  );
}

describe("packages/core/src", () => {
  const files = sourceFiles();

  test("every folder imports only what the table allows", () => {
    const forbidden = files.flatMap(ownImports).filter((entry) => !isAllowed(entry));
    expect(forbidden.map(({ file, from }) => `${file} imports ${from}`)).toEqual([]);
  });

  test("in the sandbox, the code for protected files does not depend on the code for sandboxes", () => {
    const own = files.filter((file) => file.startsWith("sandbox/protected-files/")).flatMap(ownImports);
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter(({ from }) => /^sandbox\/(?!protected-files\/)/.test(from))).toEqual([]);
  });

  test("every folder is in the table", () => {
    const unknown = files.map(roomOf).filter((room) => !FACES.has(room) && !(room in MAY_IMPORT));
    expect([...new Set(unknown)]).toEqual([]);
  });

  test("light.ts and sessions.ts load no schema library and no provider", () => {
    const loaded = [...loadedFiles("faces/light.ts"), ...loadedFiles("sessions.ts")];
    expect(loaded).toContain("session/list.ts");
    const texts = loaded.map((file) => readFileSync(join(SOURCE, file), "utf8"));
    const packages = texts.flatMap((text) =>
      [...text.matchAll(/from "([^.][^"]*)"/g)].map((match) => match[1] ?? ""),
    );
    expect([...new Set(packages)].filter((name) => !name.startsWith("node:"))).toEqual([
      "fastest-levenshtein",
    ]);
  });

  test("run.ts loads no schema library, no provider and no reader of configuration files", () => {
    const loaded = [...loadedFiles("faces/run.ts")];
    expect(loaded).toContain("session/manager.ts");
    const packages = loaded.flatMap((file) =>
      [
        ...readFileSync(join(SOURCE, file), "utf8").matchAll(/^import (?!type )[^;]*from "([^.][^"]*)"/gm),
      ].map((match) => match[1] ?? ""),
    );
    expect(packages.filter((name) => !name.startsWith("node:"))).toEqual([]);
    const heavy =
      /^provider\/(anthropic|openai|compatible|scripted)|^config\/(schema|document|trust|user-layer|project-layer)/;
    expect(loaded.filter((file) => heavy.test(file))).toEqual([]);
  });

  test("only infrastructure reads the environment, the working directory and the clock, and nothing prints", () => {
    const effects = /process\.(env|cwd|stdout|stderr|exit)\b|\bconsole\.\w+\(|\bDate\.now\(\)|new Date\(\)/;
    const offenders = files
      .filter((file) => roomOf(file) !== "infrastructure")
      .filter((file) => effects.test(withoutComments(readFileSync(join(SOURCE, file), "utf8"))));
    expect(offenders).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}
