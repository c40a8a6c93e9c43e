import { dirname, join } from "node:path";
import {
  findRecipeFile,
  optionValue,
  placeIn,
  type RecipeFile,
  type ScriptLine,
  type ScriptPlace,
} from "./script-place.ts";

const NAMES = ["justfile", "Justfile", ".justfile"];
const MAX_FILES = 50;
const MAX_RECIPES = 50;

/** The lines of the recipes that a call of just runs, or of the command that it is given. */
export function findJustLines(args: readonly string[], place: ScriptPlace): ScriptLine[] {
  const command = args.findIndex((word) => /^(?:-c|--command)$/.test(word));
  if (command >= 0) return [{ line: args.slice(command + 1).join(" "), cwd: place.cwd }];
  const named = optionValue(args, /^(?:-f|--justfile)$/);
  const start = optionValue(args, /^(?:-d|--working-directory)$/);
  const found =
    named === undefined
      ? findRecipeFile(NAMES, place.cwd, place)
      : readRecipes(placeIn(place.cwd, named), place);
  if (found === undefined) return [];
  const directory = start === undefined ? found.directory : placeIn(place.cwd, start);
  const justfile = new Justfile(place);
  justfile.read({ ...found, directory }, "");
  const operands = args.filter(
    (word, index) =>
      !word.startsWith("-") && !/^(?:-[fd]|--justfile|--working-directory)$/.test(args[index - 1] ?? ""),
  );
  return justfile.listLines(operands);
}

function readRecipes(path: string, { readFile }: ScriptPlace): RecipeFile | undefined {
  const text = readFile(path);
  return text === undefined ? undefined : { text, directory: dirname(path) };
}

interface Recipe {
  needs: string[];
  lines: string[];
  cwd: string;
}

/** A justfile with what it imports and its modules, whose recipes are called `module::recipe`. */
class Justfile {
  private readonly recipes = new Map<string, Recipe>();
  private readonly variables = new Map<string, string>();
  private readonly aliases = new Map<string, string>();
  private fileCount = 0;

  constructor(private readonly place: ScriptPlace) {}

  read({ text, directory }: RecipeFile, module: string): void {
    this.fileCount += 1;
    let current: Recipe | undefined;
    for (const line of text.replace(/\\\n\s*/g, " ").split("\n")) {
      if (/^\s+\S/.test(line)) {
        current?.lines.push(line.trim());
        continue;
      }
      const [, variable, value] = /^(?:export\s+)?([\w-]+)\s*:=\s*["']?(.*?)["']?\s*$/.exec(line) ?? [];
      const [, alias, target] = /^alias\s+([\w-]+)\s*:=\s*([\w:-]+)/.exec(line) ?? [];
      if (alias !== undefined) this.aliases.set(module + alias, module + (target ?? ""));
      else if (variable !== undefined) this.variables.set(variable, value ?? "");
      this.readOthers(line, directory, module);
      const head = /^@?([\w-]+)((?:\s+[^:=]*)?):(?!=)\s*(.*)$/.exec(line);
      if (!head || alias !== undefined || variable !== undefined) continue;
      const needs = (head[3] ?? "").split(/[\s()]+/).filter((word) => word !== "" && word !== "&&");
      current = { needs: needs.map((need) => module + need), lines: [], cwd: directory };
      this.recipes.set(module + (head[1] ?? ""), current);
    }
  }

  listLines(operands: readonly string[]): ScriptLine[] {
    const queue = operands.flatMap((word, index) => this.findNames(word, operands[index + 1]));
    const first = [...this.recipes.keys()][0];
    if (queue.length === 0 && first !== undefined) queue.push(first);
    const lines: ScriptLine[] = [];
    const seen = new Set<string>();
    for (let name = queue.pop(); name !== undefined && seen.size < MAX_RECIPES; name = queue.pop()) {
      const recipe = this.recipes.get(name);
      if (seen.has(name) || !recipe) continue;
      seen.add(name);
      const filled = recipe.lines.map((line) =>
        line
          .replace(/^[@-]+/, "")
          .replace(
            /\{\{\s*([\w-]+)\s*\}\}/g,
            (_, variable: string) => this.variables.get(variable) ?? operands[1] ?? "",
          ),
      );
      // A recipe may be a script of its own.
      const scripts = filled[0]?.startsWith("#!") ? [filled.join("\n")] : filled;
      lines.push(...scripts.map((line) => ({ line, cwd: recipe.cwd })));
      queue.push(...recipe.needs);
    }
    return lines;
  }

  private findNames(word: string, next: string | undefined): string[] {
    const names = [word, `${word}::${next}`].map((name) => this.aliases.get(name) ?? name);
    return names.filter((name) => this.recipes.has(name));
  }

  private readOthers(line: string, directory: string, module: string): void {
    if (this.fileCount >= MAX_FILES) return;
    const imported = /^import\??\s+["']([^"']+)["']/.exec(line)?.[1];
    const [, name, path] = /^mod\??\s+([\w-]+)(?:\s+["']([^"']+)["'])?/.exec(line) ?? [];
    const paths =
      imported !== undefined
        ? [imported]
        : name === undefined
          ? []
          : path !== undefined
            ? [path, join(path, "mod.just"), join(path, "justfile")]
            : [`${name}.just`, join(name, "mod.just"), join(name, "justfile"), join(name, ".justfile")];
    for (const each of paths) {
      const text = this.place.readFile(placeIn(directory, each));
      if (text === undefined) continue;
      const from = name === undefined ? directory : dirname(placeIn(directory, each));
      this.read({ text, directory: from }, name === undefined ? module : `${module}${name}::`);
      return;
    }
  }
}
