import {
  listIncluded,
  optionValue,
  optionValues,
  placeIn,
  type ScriptLine,
  type ScriptPlace,
} from "./script-place.ts";
import { withoutAssignments } from "./unwrap-call.ts";

const MAX_TARGETS = 50;
const MAX_INCLUDES = 50;

/** The lines that a call of make runs: the recipes of its targets, and what the Makefile runs while it is read. */
export function findMakeLines(args: readonly string[], place: ScriptPlace): ScriptLine[] {
  const directory = placeIn(place.cwd, optionValue(args, /^(?:-C|--directory)$/) ?? ".");
  const makefile = new Makefile(directory, place);
  for (const word of args) {
    const [, name, value] = /^([\w.-]+)[:?+]?=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && value !== undefined) makefile.set(name, value);
  }
  for (const text of optionValues(args, /^(?:-E|--eval)$/)) makefile.read(text);
  const named = optionValues(args, /^(?:-f|--file|--makefile)$/);
  // The grammar loses a `-` before a here-document.
  if (/^(?:-f|--file|--makefile)$/.test(args.at(-1) ?? "")) named.push("-");
  if (named.length > 0) for (const name of named) makefile.include(name);
  else ["GNUmakefile", "makefile", "Makefile"].some((name) => makefile.include(name));
  const operands = args.filter(
    (word, index) =>
      !word.startsWith("-") &&
      !/^-[CEfIloWj]$|^--(?:directory|file|makefile|eval)$/.test(args[index - 1] ?? ""),
  );
  const wanted = withoutAssignments(operands.filter((word) => !word.includes("=")));
  return makefile.listLines(wanted).map((line) => ({ line, cwd: directory }));
}

interface MakeRule {
  needs: string[];
  recipe: string[];
}

/** A Makefile with what it includes, as far as its recipes can be known without running anything. */
class Makefile {
  private readonly targets = new Map<string, MakeRule>();
  private readonly variables = new Map<string, string>();
  /** Those of the command line, which no file changes. */
  private readonly fixed = new Set<string>();
  private readonly included = new Set<string>();
  /** What runs whatever is built. */
  private readonly always: string[] = [];
  private first: string | undefined;

  constructor(
    private readonly directory: string,
    private readonly place: ScriptPlace,
  ) {}

  /** Sets a variable for good. */
  set(name: string, value: string): void {
    this.variables.set(name, value);
    this.fixed.add(name);
  }

  /** False if there is no such file. @param name relative to make's directory; `-`: the standard input. */
  include(name: string): boolean {
    const path = placeIn(this.directory, name);
    if (this.included.has(path) || this.included.size >= MAX_INCLUDES) return true;
    const text = name === "-" || name === "/dev/stdin" ? this.place.stdin : this.place.readFile(path);
    if (text === undefined) return false;
    this.included.add(path);
    this.read(text);
    return true;
  }

  read(text: string): void {
    let current: MakeRule[] = [];
    let defined: { name: string; lines: string[] } | undefined;
    for (const line of text.replace(/\\\n[\t ]*/g, " ").split("\n")) {
      if (defined) {
        if (/^\s*endef\b/.test(line)) {
          this.assign(defined.name, defined.lines.join("\n"));
          defined = undefined;
        } else defined.lines.push(line);
        continue;
      }
      if (line.startsWith("\t")) {
        for (const rule of current) rule.recipe.push(line.trim());
        continue;
      }
      const definition = /^\s*(?:override\s+|export\s+)*define\s+([\w.-]+)/.exec(line);
      if (definition) {
        defined = { name: definition[1] ?? "", lines: [] };
        continue;
      }
      this.runWhileReading(line);
      const files = /^\s*(?:-|s)?include\s+(.+)$/.exec(line)?.[1];
      if (files !== undefined)
        for (const file of this.fill(files, "").split(/\s+/))
          for (const path of listIncluded(placeIn(this.directory, file))) this.include(path);
      const assignment = /^\s*(?:export\s+|override\s+)*([\w.-]+)\s*(?:[:?+!]|::)?=\s*(.*)$/.exec(line);
      if (assignment) this.assign(assignment[1] ?? "", (assignment[2] ?? "").trim());
      const rule = assignment ? null : /^([^\s:#=][^:#=]*?)\s*::?\s*([^=;]*)(?:;(.*))?$/.exec(line);
      if (rule) current = this.addRule(rule);
    }
  }

  /** What a run for these targets runs; without any, for the default one. */
  listLines(wanted: readonly string[]): string[] {
    const lines = this.always.map((line) => this.fill(line, ""));
    const start = this.variables.get(".DEFAULT_GOAL") ?? this.first;
    const queue = wanted.length > 0 ? [...wanted] : start === undefined ? [] : [start];
    const seen = new Set<string>();
    for (let target = queue.pop(); target !== undefined && seen.size < MAX_TARGETS; target = queue.pop()) {
      if (seen.has(target)) continue;
      seen.add(target);
      const { recipe, needs } = this.findRule(target) ?? { recipe: [], needs: [] };
      for (const line of recipe)
        lines.push(
          ...this.fill(line, target)
            .split("\n")
            .map((each) => each.trim().replace(/^[@+-]+\s*/, "")),
        );
      const further = needs.flatMap((need) => this.fill(need, target ?? "").split(/\s+/));
      queue.push(...further.filter((need) => need !== ""));
    }
    return lines;
  }

  private assign(name: string, value: string): void {
    if (!this.fixed.has(name)) this.variables.set(name, value);
  }

  private addRule([, names = "", needs = "", recipe]: readonly (string | undefined)[]): MakeRule[] {
    const targets = this.fill(names, "").split(/\s+/);
    if (this.first === undefined && !targets[0]?.startsWith(".")) this.first = targets[0];
    return targets.map((target) => {
      const known = this.targets.get(target) ?? { needs: [], recipe: [] };
      known.needs.push(...needs.split(/\s+/).filter((need) => need !== ""));
      if (recipe !== undefined) known.recipe.push(recipe.trim());
      this.targets.set(target, known);
      return known;
    });
  }

  private findRule(target: string): MakeRule | undefined {
    const own = this.targets.get(target);
    if (own) return own;
    for (const [name, rule] of this.targets) {
      if (!name.includes("%")) continue;
      const parts = name.split("%").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      if (new RegExp(`^${parts.join(".*")}$`).test(target)) return rule;
    }
    return undefined;
  }

  /** `$(shell …)` runs while the file is read, and `$(eval …)` and `$(call …)` on a line of its own are read. */
  private runWhileReading(line: string): void {
    for (const [, command = ""] of line.matchAll(/\$[({]shell\s+((?:[^()]|\([^()]*\))*)[)}]/g))
      this.always.push(command);
    const shell = /^\s*[\w.-]+\s*!=\s*(.+)$/.exec(line)?.[1];
    if (shell !== undefined) this.always.push(shell);
    const evaluated = /^\s*\$[({](?:eval\s+\$[({])?(?:eval|call)\s+(.*?)[)}]+\s*$/.exec(line);
    if (evaluated && this.included.size < MAX_INCLUDES) {
      this.included.add(`${this.included.size} evaluated`);
      this.read(this.fill(line.trim().replace(/^\$[({]eval\s+(.*)[)}]$/, "$1"), ""));
    }
  }

  private fill(text: string, target: string): string {
    let filled = text;
    // Variables may be defined by others.
    for (let round = 0; round < 6 && /\$[({]/.test(filled); round++)
      filled = filled
        .replace(/\$[({]shell\s+([^()]*)[)}]/g, "`$1`")
        .replace(/\$[({]call\s+([\w.-]+)((?:,[^()]*)?)[)}]/g, (whole, name: string, given: string) => {
          const values = given.split(",").slice(1);
          return (
            this.valueOf(name)?.replace(/\$[({](\d)[)}]|\$(\d)/g, (_, long, short) => {
              return values[Number(long ?? short) - 1]?.trim() ?? "";
            }) ?? whole
          );
        })
        .replace(/\$[({]([\w.-]+)[)}]/g, (whole, name: string) => this.valueOf(name) ?? whole);
    return filled.replaceAll("$@", target).replaceAll("$$", "$");
  }

  private valueOf(name: string): string | undefined {
    return (
      this.variables.get(name) ??
      this.place.variable(name) ??
      (name === "MAKE" ? "make" : name === "SHELL" ? "sh" : undefined)
    );
  }
}
