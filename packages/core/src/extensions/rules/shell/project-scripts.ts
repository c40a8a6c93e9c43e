import { dirname, isAbsolute, join } from "node:path";
import { toProgram } from "../match-command.ts";
import { skipOptions, withoutAssignments } from "./unwrap-call.ts";

/** Where the scripts of a project are looked up. */
export interface ScriptPlace {
  cwd: string;
  /** The text of a file, undefined if there is none. @param path absolute. */
  readFile(path: string): string | undefined;
}

/** A line that a call runs, and where. */
export interface ScriptLine {
  line: string;
  cwd: string;
}

const PACKAGE_MANAGERS: ReadonlySet<string> = new Set(["npm", "pnpm", "yarn", "bun", "node"]);
const LIFECYCLE: Readonly<Record<string, readonly string[]>> = {
  install: ["preinstall", "install", "postinstall", "prepare"],
  i: ["preinstall", "install", "postinstall", "prepare"],
  ci: ["preinstall", "install", "postinstall", "prepare"],
  publish: ["prepublishOnly", "prepack", "prepare", "publish", "postpublish"],
  pack: ["prepack", "prepare", "postpack"],
  version: ["preversion", "version", "postversion"],
};

/** The lines of package scripts, of a Makefile's targets or of a justfile's recipes that a call runs. */
export function findScriptLines(words: readonly string[], place: ScriptPlace): ScriptLine[] {
  const program = toProgram(words[0] ?? "");
  if (PACKAGE_MANAGERS.has(program)) return findPackageLines(program, words.slice(1), place);
  if (/^(?:g|b|p)?make$/.test(program)) return findMakeLines(words.slice(1), place);
  return program === "just" ? findJustLines(words.slice(1), place) : [];
}

function findPackageLines(program: string, args: readonly string[], place: ScriptPlace): ScriptLine[] {
  const directory = optionValue(args, /^(?:--cwd|--prefix|--dir|-C)$/);
  const start =
    directory === undefined ? place.cwd : isAbsolute(directory) ? directory : join(place.cwd, directory);
  const rest = skipOptions(args, /^(?:--cwd|--prefix|--dir|-C|--filter|-F|-w|--workspace)$/);
  const [first = "", ...others] = rest;
  const isRun = /^(?:run|run-script|rum|urn)$/.test(first) || args.includes("--run");
  const after = isRun
    ? skipOptions(program === "node" ? rest : others, /^(?:--filter|-w|--workspace)$/)
    : others;
  const name = isRun ? (after[0] ?? "") : program === "npm" && /^(?:t|tst)$/.test(first) ? "test" : first;
  const found = readPackage(start, place);
  if (found === undefined || name === "") return [];
  const { scripts, directory: cwd } = found;
  const names =
    isRun || program !== "npm" || /^(?:test|start|stop|restart)$/.test(name)
      ? [`pre${name}`, name, `post${name}`]
      : [];
  const lifecycle = Object.hasOwn(LIFECYCLE, first) ? (LIFECYCLE[first] ?? []) : [];
  const further = (isRun ? after.slice(1) : others).filter((word) => word !== "--").map(quote);
  return [...names, ...lifecycle].flatMap((each) => {
    const line = scripts[each];
    return line === undefined ? [] : [{ line: each === name ? [line, ...further].join(" ") : line, cwd }];
  });
}

function readPackage(
  start: string,
  { readFile }: ScriptPlace,
): { scripts: Record<string, string>; directory: string } | undefined {
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

const MAX_TARGETS = 50;

function findMakeLines(args: readonly string[], { cwd, readFile }: ScriptPlace): ScriptLine[] {
  const at = optionValue(args, /^(?:-C|--directory)$/);
  const directory = at === undefined ? cwd : isAbsolute(at) ? at : join(cwd, at);
  const named = optionValue(args, /^(?:-f|--file|--makefile)$/);
  const names = named === undefined ? ["GNUmakefile", "makefile", "Makefile"] : [named];
  const text = names
    .map((name) => readFile(isAbsolute(name) ? name : join(directory, name)))
    .find((each) => each !== undefined);
  if (text === undefined) return [];
  const { targets, variables, first } = readMakefile(text);
  const operands = args.filter(
    (word, index) =>
      !word.startsWith("-") && !/^-[CfjIol]$|^--(?:directory|file|makefile)$/.test(args[index - 1] ?? ""),
  );
  for (const word of operands) {
    const [name = "", ...value] = word.split("=");
    if (value.length > 0) variables.set(name.replace(/[:?+]$/, ""), value.join("="));
  }
  const wanted = withoutAssignments(operands.filter((word) => !word.includes("=")));
  const lines: ScriptLine[] = [];
  const seen = new Set<string>();
  const queue = wanted.length > 0 ? [...wanted] : first === undefined ? [] : [first];
  for (let target = queue.pop(); target !== undefined && seen.size < MAX_TARGETS; target = queue.pop()) {
    if (seen.has(target)) continue;
    seen.add(target);
    const rule =
      targets.get(target) ??
      [...targets].find(
        ([name]) =>
          name.includes("%") &&
          new RegExp(
            `^${name
              .split("%")
              .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
              .join(".*")}$`,
          ).test(target ?? ""),
      )?.[1];
    for (const line of rule?.recipe ?? [])
      lines.push({ line: fillMake(line.replace(/^[@+-]+\s*/, ""), variables, target), cwd: directory });
    queue.push(
      ...(rule?.needs ?? [])
        .flatMap((need) => fillMake(need, variables, target).split(/\s+/))
        .filter((need) => need !== ""),
    );
  }
  return lines;
}

interface MakeRule {
  needs: string[];
  recipe: string[];
}

function readMakefile(text: string): {
  targets: Map<string, MakeRule>;
  variables: Map<string, string>;
  first: string | undefined;
} {
  const targets = new Map<string, MakeRule>();
  const variables = new Map<string, string>();
  let current: MakeRule[] = [];
  let first: string | undefined;
  for (const line of text.replace(/\\\n[\t ]*/g, " ").split("\n")) {
    if (line.startsWith("\t")) {
      for (const rule of current) rule.recipe.push(line.trim());
      continue;
    }
    const assignment = /^\s*(?:export\s+|override\s+)?([\w.-]+)\s*(?:[:?+!]|::)?=\s*(.*)$/.exec(line);
    if (assignment) variables.set(assignment[1] ?? "", (assignment[2] ?? "").trim());
    const rule = assignment ? null : /^([^\s:#=][^:#=]*?)\s*::?\s*([^=;]*)(?:;(.*))?$/.exec(line);
    if (!rule) continue;
    const names = fillMake(rule[1] ?? "", variables, "").split(/\s+/);
    current = names.map((name) => {
      const known = targets.get(name) ?? { needs: [], recipe: [] };
      known.needs.push(...(rule[2] ?? "").split(/\s+/).filter((need) => need !== ""));
      if (rule[3] !== undefined) known.recipe.push(rule[3].trim());
      targets.set(name, known);
      return known;
    });
    if (first === undefined && !names[0]?.startsWith(".")) first = names[0];
  }
  return { targets, variables, first };
}

function fillMake(text: string, variables: ReadonlyMap<string, string>, target: string | undefined): string {
  let filled = text;
  // Variables may be defined by others.
  for (let round = 0; round < 5 && /\$[({]/.test(filled); round++)
    filled = filled
      .replace(/\$\(shell ([^)]*)\)/g, "`$1`")
      .replace(
        /\$[({]([\w.-]+)[)}]/g,
        (whole, name: string) =>
          variables.get(name) ?? (name === "MAKE" ? "make" : name === "SHELL" ? "sh" : whole),
      );
  return filled.replaceAll("$@", target ?? "").replaceAll("$$", "$");
}

function findJustLines(args: readonly string[], { cwd, readFile }: ScriptPlace): ScriptLine[] {
  const named = optionValue(args, /^(?:-f|--justfile)$/);
  const names = named === undefined ? ["justfile", "Justfile", ".justfile"] : [named];
  const text = names
    .map((name) => readFile(isAbsolute(name) ? name : join(cwd, name)))
    .find((each) => each !== undefined);
  if (text === undefined) return [];
  const variables = new Map(
    [...text.matchAll(/^(?:export\s+)?([\w-]+)\s*:=\s*["']?(.*?)["']?\s*$/gm)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  );
  const recipes = new Map<string, { needs: string[]; lines: string[] }>();
  let current: { needs: string[]; lines: string[] } | undefined;
  for (const line of text.split("\n")) {
    const head = /^@?([\w-]+)((?:\s+[^:=]*)?):(?!=)\s*(.*)$/.exec(line);
    if (/^\s+\S/.test(line)) current?.lines.push(line.trim());
    else if (head) {
      current = {
        needs: (head[3] ?? "").split(/\s+/).filter((word) => word !== "" && word !== "&&"),
        lines: [],
      };
      recipes.set(head[1] ?? "", current);
    }
  }
  const operands = args.filter((word) => !word.startsWith("-") && word !== named);
  const queue = [operands.find((word) => recipes.has(word)) ?? [...recipes.keys()][0] ?? ""];
  const lines: ScriptLine[] = [];
  const seen = new Set<string>();
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const recipe = recipes.get(name);
    const filled = (recipe?.lines ?? []).map((line) =>
      line
        .replace(/^[@-]+/, "")
        .replace(
          /\{\{\s*([\w-]+)\s*\}\}/g,
          (_, variable: string) => variables.get(variable) ?? operands[1] ?? "",
        ),
    );
    // A recipe may be a script of its own.
    lines.push(
      ...(filled[0]?.startsWith("#!")
        ? [{ line: filled.join("\n"), cwd }]
        : filled.map((line) => ({ line, cwd }))),
    );
    queue.push(...(recipe?.needs ?? []));
  }
  return lines;
}

function optionValue(words: readonly string[], option: RegExp): string | undefined {
  const at = words.findIndex((word) => option.test(word.split("=", 1)[0] ?? ""));
  if (at >= 0)
    return words[at]?.includes("=") ? words[at]?.slice((words[at]?.indexOf("=") ?? 0) + 1) : words[at + 1];
  const attached = words
    .map((word) => /^(-[Cf])(.+)$/.exec(word))
    .find((match) => match && option.test(match[1] ?? ""));
  return attached?.[2];
}
