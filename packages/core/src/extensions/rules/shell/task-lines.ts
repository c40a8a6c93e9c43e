import { dirname } from "node:path";
import {
  findRecipeFile,
  optionValue,
  placeIn,
  type RecipeFile,
  type ScriptLine,
  type ScriptPlace,
  toSettings,
} from "./script-place.ts";

const NAMES = ["Taskfile", "taskfile"].flatMap((name) => [
  `${name}.yml`,
  `${name}.yaml`,
  `${name}.dist.yml`,
  `${name}.dist.yaml`,
]);
const MAX_FILES = 50;
const MAX_TASKS = 50;

/** The lines of the tasks of a Taskfile that a call of task runs. */
export function findTaskLines(args: readonly string[], place: ScriptPlace): ScriptLine[] {
  const named = optionValue(args, /^(?:-t|--taskfile)$/);
  const start = placeIn(place.cwd, optionValue(args, /^(?:-d|--dir)$/) ?? ".");
  const found =
    named === undefined ? findRecipeFile(NAMES, start, place) : readAt(placeIn(start, named), place);
  if (found === undefined) return [];
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  const operands = own.filter(
    (word, index) =>
      !word.startsWith("-") && !/^(?:-[tdcClo]|--(?:taskfile|dir|output))$/.test(args[index - 1] ?? ""),
  );
  const taskfile = new Taskfile(place);
  for (const word of operands) {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && value !== undefined) taskfile.set(name, value);
  }
  if (end >= 0) taskfile.set("CLI_ARGS", args.slice(end + 1).join(" "));
  taskfile.read(found, "");
  return taskfile.listLines(operands.filter((word) => !word.includes("=")));
}

function readAt(path: string, { readFile }: ScriptPlace): RecipeFile | undefined {
  const text = readFile(path);
  if (text !== undefined) return { text, directory: dirname(path) };
  for (const name of NAMES) {
    const inside = readFile(placeIn(path, name));
    if (inside !== undefined) return { text: inside, directory: path };
  }
  return undefined;
}

interface Task {
  settings: unknown;
  cwd: string;
  /** What precedes the names of its file. */
  module: string;
}

/** A Taskfile with what it includes; the tasks of an included file are called `name:task`. */
class Taskfile {
  private readonly tasks = new Map<string, Task>();
  private readonly variables = new Map<string, string>();
  private readonly fixed = new Set<string>();
  /** What runs to find the values of variables, whatever task is wanted. */
  private readonly always: ScriptLine[] = [];
  private fileCount = 0;

  constructor(private readonly place: ScriptPlace) {}

  /** Sets a variable for good. */
  set(name: string, value: string): void {
    this.variables.set(name, value);
    this.fixed.add(name);
  }

  read({ text, directory }: RecipeFile, module: string): void {
    this.fileCount += 1;
    const file = toSettings(readYaml(text));
    for (const part of [file.vars, file.env]) this.readVariables(part, directory);
    for (const [name, settings] of Object.entries(toSettings(file.tasks))) {
      const task = { settings, cwd: placeIn(directory, readText(toSettings(settings).dir) ?? "."), module };
      for (const each of [name, ...listTexts(toSettings(settings).aliases)])
        this.tasks.set(module + each, task);
    }
    for (const [name, setting] of Object.entries(toSettings(file.includes))) {
      const path = readText(setting) ?? readText(toSettings(setting).taskfile);
      if (path === undefined || this.fileCount >= MAX_FILES) continue;
      const included = readAt(placeIn(directory, this.fill(path)), this.place);
      if (included === undefined) continue;
      this.readVariables(toSettings(setting).vars, directory);
      const { dir, flatten, aliases } = toSettings(setting);
      const from = readText(dir);
      const where = from === undefined ? directory : placeIn(directory, from);
      for (const each of flatten === true ? [""] : [name, ...listTexts(aliases)].map((own) => `${own}:`))
        this.read({ text: included.text, directory: where }, module + each);
    }
  }

  listLines(wanted: readonly string[]): ScriptLine[] {
    const queue = wanted.length > 0 ? [...wanted] : ["default"];
    const lines = [...this.always];
    const seen = new Set<string>();
    for (let name = queue.pop(); name !== undefined && seen.size < MAX_TASKS; name = queue.pop()) {
      const task = this.tasks.get(name) ?? this.findByPattern(name);
      if (seen.has(name) || task === undefined) continue;
      seen.add(name);
      const { settings, cwd, module } = task;
      const { vars, env } = toSettings(settings);
      for (const part of [vars, env]) this.readVariables(part, cwd);
      const found: FoundCommands = { lines: [], tasks: [] };
      collectCommands(settings, found, 0);
      lines.push(...found.lines.map((line) => ({ line: this.fill(line), cwd })));
      queue.push(
        ...found.tasks.map((each) => {
          const filled = this.fill(each);
          return filled.startsWith(":") ? filled.slice(1) : module + filled;
        }),
      );
    }
    return [...lines, ...this.always.filter((line) => !lines.includes(line))];
  }

  private findByPattern(name: string): Task | undefined {
    for (const [pattern, task] of this.tasks)
      if (pattern.includes("*") && new Bun.Glob(pattern).match(name)) return task;
    return undefined;
  }

  private readVariables(given: unknown, cwd: string): void {
    for (const [name, value] of Object.entries(toSettings(given))) {
      const command = readText(toSettings(value).sh);
      if (command !== undefined) this.always.push({ line: this.fill(command), cwd });
      else if (!this.fixed.has(name) && (typeof value === "string" || typeof value === "number"))
        this.variables.set(name, String(value));
    }
  }

  private fill(text: string): string {
    let filled = text;
    // Variables may be defined by others.
    for (let round = 0; round < 5 && filled.includes("{{"); round++)
      filled = filled.replace(
        /\{\{-?\s*\.(\w+)\s*(?:\|[^}]*)?-?\}\}/g,
        (whole, name: string) => this.variables.get(name) ?? this.place.variable(name) ?? whole,
      );
    return filled;
  }
}

interface FoundCommands {
  lines: string[];
  tasks: string[];
}

// A file may be nested at will, and by its anchors in itself.
const MAX_NESTING = 6;
const MAX_LINES = 500;

/** The commands of a task as it may be written: a text, a list, or settings. */
function collectCommands(given: unknown, found: FoundCommands, depth: number): void {
  if (typeof given === "string") found.lines.push(given);
  if (typeof given !== "object" || given === null || depth > MAX_NESTING || found.lines.length > MAX_LINES)
    return;
  const { task, cmds, cmd, defer, deps, preconditions, status, sh } = toSettings(given);
  if (typeof task === "string") found.tasks.push(task);
  const parts = Array.isArray(given) ? given : [cmds, cmd, defer, preconditions, status, sh];
  for (const each of parts) collectCommands(each, found, depth + 1);
  for (const each of Array.isArray(deps) ? deps : [])
    if (typeof each === "string") found.tasks.push(each);
    else collectCommands(each, found, depth + 1);
}

function readYaml(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch {
    return undefined; // Damaged: then task does not run it either.
  }
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
