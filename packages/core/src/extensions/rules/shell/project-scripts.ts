import { dirname, join } from "node:path";
import { toProgram } from "../match-command.ts";
import { findJustLines } from "./just-lines.ts";
import { findMakeLines } from "./make-lines.ts";
import {
  findRecipeFile,
  optionValue,
  placeIn,
  type ScriptLine,
  type ScriptPlace,
  toSettings,
} from "./script-place.ts";
import { findTaskLines } from "./task-lines.ts";
import { skipOptions } from "./unwrap-call.ts";

const PACKAGE_MANAGERS: ReadonlySet<string> = new Set(["npm", "pnpm", "yarn", "bun", "node"]);
const LIFECYCLE: Readonly<Record<string, readonly string[]>> = {
  install: ["preinstall", "install", "postinstall", "prepare"],
  i: ["preinstall", "install", "postinstall", "prepare"],
  ci: ["preinstall", "install", "postinstall", "prepare"],
  publish: ["prepublishOnly", "prepack", "prepare", "publish", "postpublish"],
  pack: ["prepack", "prepare", "postpack"],
  version: ["preversion", "version", "postversion"],
};

/** The lines of package scripts, or of recipes of a Makefile, a justfile, a Taskfile and the like that a call runs. */
export function findScriptLines(words: readonly string[], place: ScriptPlace): ScriptLine[] {
  const program = toProgram(words[0] ?? "");
  if (PACKAGE_MANAGERS.has(program)) return findPackageLines(program, words.slice(1), place);
  if (/^(?:g|b|p)?make$/.test(program)) return findMakeLines(words.slice(1), place);
  if (program === "just") return findJustLines(words.slice(1), place);
  if (program === "task" || program === "go-task") return findTaskLines(words.slice(1), place);
  return findListedLines(program, words.slice(1), place);
}

const VALUE_OPTIONS = /^(?:--cwd|--prefix|--dir|-C|--filter|-F|-w|--workspace)$/;

function findPackageLines(program: string, args: readonly string[], place: ScriptPlace): ScriptLine[] {
  const start = placeIn(place.cwd, optionValue(args, /^(?:--cwd|--prefix|--dir|-C)$/) ?? ".");
  const rest = skipOptions(args, VALUE_OPTIONS);
  // `yarn workspace NAME SCRIPT` and `yarn workspaces foreach run SCRIPT`.
  const inWorkspace = program === "yarn" && /^workspaces?$/.test(rest[0] ?? "") ? rest.slice(2) : undefined;
  const [first = "", ...others] = skipOptions(inWorkspace ?? rest, VALUE_OPTIONS);
  const isRun = /^(?:run|run-script|rum|urn)$/.test(first) || args.includes("--run");
  const after = skipOptions(isRun && program !== "node" ? others : isRun ? rest : others, VALUE_OPTIONS);
  const name = isRun ? (after[0] ?? "") : program === "npm" && /^(?:t|tst)$/.test(first) ? "test" : first;
  if (name === "") return [];
  const isScript = isRun || program !== "npm" || /^(?:test|start|stop|restart)$/.test(name);
  const names = isScript ? [`pre${name}`, name, `post${name}`] : [];
  const lifecycle = Object.hasOwn(LIFECYCLE, first) ? (LIFECYCLE[first] ?? []) : [];
  const further = (isRun ? after.slice(1) : others).filter((word) => word !== "--").map(quote);
  const isOfWorkspaces =
    inWorkspace !== undefined ||
    args.some((word) => /^(?:--filter|-F|-w|--workspaces?|-ws|-r|--recursive)(?:=|$)/.test(word));
  const own = readPackage(start, place);
  const packages = [...(own ? [own] : []), ...(isOfWorkspaces ? listWorkspaces(start, place) : [])];
  return packages.flatMap(({ scripts, directory: cwd }) =>
    [...names, ...lifecycle].flatMap((each) => {
      const line = scripts[each];
      return line === undefined ? [] : [{ line: each === name ? [line, ...further].join(" ") : line, cwd }];
    }),
  );
}

interface Package {
  scripts: Record<string, string>;
  directory: string;
}

const MAX_WORKSPACES = 200;

/** The packages below a directory, one or two levels deep, as workspaces lie. */
function listWorkspaces(start: string, { readFile }: ScriptPlace): Package[] {
  const paths = ["*/package.json", "*/*/package.json"].flatMap((pattern) => {
    try {
      return [...new Bun.Glob(pattern).scanSync({ cwd: start, followSymlinks: false })];
    } catch {
      return []; // The directory does not exist.
    }
  });
  return paths
    .filter((path) => !path.startsWith("node_modules/"))
    .slice(0, MAX_WORKSPACES)
    .flatMap((path) => {
      const text = readFile(join(start, path));
      return text === undefined
        ? []
        : [{ scripts: readScripts(text), directory: join(start, dirname(path)) }];
    });
}

function readPackage(start: string, { readFile }: ScriptPlace): Package | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    const text = readFile(join(directory, "package.json"));
    const scripts = text === undefined ? undefined : readScripts(text);
    if (scripts !== undefined) return { scripts, directory };
    if (directory === dirname(directory)) return undefined;
  }
}

function readScripts(text: string): Record<string, string> {
  try {
    const { scripts } = JSON.parse(text);
    const entries = Object.entries(scripts ?? {}).flatMap(([name, line]) =>
      typeof line === "string" ? [[name, line] as const] : [],
    );
    return Object.fromEntries(entries);
  } catch {
    return {}; // Damaged: then the package manager does not run it either.
  }
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Runners whose file has a line for each name: its files, and where they have the lines. */
const LISTED: Readonly<Record<string, { files: readonly string[]; at: readonly (readonly string[])[] }>> = {
  deno: { files: ["deno.json", "deno.jsonc"], at: [["tasks"]] },
  composer: { files: ["composer.json"], at: [["scripts"]] },
  poe: { files: ["pyproject.toml"], at: [["tool", "poe", "tasks"]] },
  pdm: { files: ["pyproject.toml"], at: [["tool", "pdm", "scripts"]] },
  hatch: { files: ["pyproject.toml"], at: [["tool", "hatch", "envs", "default", "scripts"]] },
  pixi: { files: ["pixi.toml", "pyproject.toml"], at: [["tasks"], ["tool", "pixi", "tasks"]] },
  mise: { files: ["mise.toml", ".mise.toml"], at: [["tasks"]] },
  cargo: { files: ["Makefile.toml"], at: [["tasks"]] },
  makers: { files: ["Makefile.toml"], at: [["tasks"]] },
  lefthook: { files: ["lefthook.yml", "lefthook.yaml", ".lefthook.yml"], at: [[]] },
};
// Runners of several package scripts, and of those of workspaces.
const SCRIPT_RUNNERS = /^(?:run-s|run-p|npm-run-all2?|turbo|nx|lerna|wireit|ultra|wsrun)$/;

function findListedLines(program: string, args: readonly string[], place: ScriptPlace): ScriptLine[] {
  const operands = args.filter((word) => !word.startsWith("-"));
  if (SCRIPT_RUNNERS.test(program)) {
    const own = readPackage(place.cwd, place);
    return [...(own ? [own] : []), ...listWorkspaces(place.cwd, place)].flatMap(({ scripts, directory }) =>
      operands.flatMap((name) =>
        Object.entries(scripts)
          .filter(([each]) => each === name || (name.includes("*") && new Bun.Glob(name).match(each)))
          .map(([, line]) => ({ line, cwd: directory })),
      ),
    );
  }
  if (program === "concurrently")
    return operands.map((line) => ({
      line: line.replace(/^(npm|pnpm|yarn|bun):/, "$1 run "),
      cwd: place.cwd,
    }));
  const listed = Object.hasOwn(LISTED, program) ? LISTED[program] : undefined;
  if (listed === undefined || (program === "cargo" && operands[0] !== "make")) return [];
  for (const name of listed.files) {
    const found = findRecipeFile([name], place.cwd, place);
    if (found === undefined) continue;
    const settings = readSettings(name, found.text);
    for (const path of listed.at) {
      const tasks = path.reduce<unknown>((value, key) => toSettings(value)[key], settings);
      const lines = operands.flatMap((name) => listCommands(toSettings(tasks)[name]));
      if (lines.length > 0) return lines.map((line) => ({ line, cwd: found.directory }));
    }
  }
  return [];
}

function readSettings(name: string, text: string): unknown {
  try {
    if (name.endsWith(".toml")) return Bun.TOML.parse(text);
    if (/\.ya?ml$/.test(name)) return Bun.YAML.parse(text);
    return Bun.JSONC.parse(text);
  } catch {
    return undefined; // Damaged: then its runner does not run it either.
  }
}

// A file may be nested at will, and by its anchors in itself.
const MAX_NESTING = 6;

/** The texts of a task that may be its commands, wherever its settings have them. */
function listCommands(task: unknown, depth = 0): string[] {
  if (typeof task === "string") return [task];
  if (typeof task !== "object" || task === null || depth > MAX_NESTING) return [];
  const { cmd, cmds, run, script, shell, command, args, sequence, commands, jobs, composite } =
    toSettings(task);
  const words =
    typeof command === "string" ? [[command, ...(Array.isArray(args) ? args : [])].join(" ")] : [];
  const named = Object.values(toSettings(commands));
  const parts = Array.isArray(task)
    ? task
    : [cmd, cmds, run, script, shell, sequence, jobs, composite, ...named];
  return [...words, ...parts.flatMap((part) => listCommands(part, depth + 1))];
}
