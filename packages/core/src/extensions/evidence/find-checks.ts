import { join, normalize, resolve } from "node:path";
import type { ReadGrammar } from "../../approval/bash/grammar.ts";
import { type Pipeline, readCommand } from "../../approval/bash/parse.ts";
import {
  FILTERS,
  kindOfScript,
  NO_CHECK,
  RUNNERS,
  type Runner,
  WHOLE_PLACES,
  WITH_VALUE,
} from "./runners.ts";
import type { CheckCall, CheckKind } from "./types.ts";

/** What is known of the project when a command line is read. */
export interface CheckSource {
  readGrammar: ReadGrammar;
  /** Where commands start; absolute. Without it, an absolute path is that of a part. */
  cwd?: string;
  /** The root of the project; absolute. */
  root?: string;
  /** A script of the `package.json` in a directory, relative to where commands start; undefined if there is none. */
  findScript(name: string, directory: string): string | undefined;
  /** The user's own checks: a pattern over the words of a command, joined by one space. */
  own?: readonly { name: string; pattern: RegExp; kind: CheckKind }[];
}

/** Programs that show their input, or a part of it. */
const FILTERS_OF_OUTPUT: ReadonlySet<string> = new Set(["tail", "head", "tee", "cat", "grep", "less"]);

const MAX_DEPTH = 4;
const MAX_LINE_CHARS = 20_000;

/** The checks that a command line runs, in its order. */
export function findChecks(line: string, source: CheckSource): CheckCall[] {
  return line.length > MAX_LINE_CHARS ? [] : distinct(findIn(line, source, { directory: ".", depth: 0 }));
}

interface Where {
  directory: string;
  depth: number;
}

function findIn(line: string, source: CheckSource, { directory, depth }: Where): CheckCall[] {
  if (depth > MAX_DEPTH) return [];
  const reading = readCommand(withKnownDirectories(line, source), source.readGrammar);
  if (reading.kind === "plain") return findInPipelines(reading.pipelines, source, { directory, depth });
  // The grammar may list a command again without what precedes its program.
  const commands = distinctWords(reading.commands.map(withoutAssignments));
  const isAlone = commands.length === 1 && !/[;|&`]|\$\(|<\(/.test(withoutStreams(line));
  return commands.flatMap((words) =>
    readWords(words, source, { directory, depth }).map((check) => ({
      ...check,
      ...(!isAlone && { hides: "other" as const }),
    })),
  );
}

function findInPipelines(pipelines: readonly Pipeline[], source: CheckSource, where: Where): CheckCall[] {
  const found: CheckCall[] = [];
  let { directory } = where;
  let isPiped = false;
  for (const [index, { commands }] of pipelines.entries()) {
    const words = commands.map((command) => command.map(({ text }) => text));
    const [first = []] = words;
    if (first[0] === "cd" && words.length === 1) directory = joinDirectory(directory, first[1]);
    if (first[0] === "set" && first.includes("pipefail")) isPiped = true;
    // The line's code is that of this part if nothing runs after it, or only after its success.
    const isLast = pipelines.slice(index + 1).every(({ runs }) => runs === "after_success");
    for (const [position, command] of words.entries()) {
      const after = words.slice(position + 1);
      const isFiltered = after.every(([program = ""]) => FILTERS_OF_OUTPUT.has(program));
      const own = !isLast || !isFiltered ? "other" : isPiped || after.length === 0 ? undefined : "filter";
      for (const check of readWords(command, source, { ...where, directory })) {
        const hides = check.hides === "other" || own === "other" ? "other" : (check.hides ?? own);
        found.push({ ...check, ...(hides !== undefined && { hides }) });
      }
    }
  }
  return found;
}

/** Programs that run the command in their words, and how many words of their own follow them. */
const WRAPPERS: Readonly<Record<string, (words: readonly string[]) => readonly string[]>> = {
  time: (words) => words.slice(1),
  nice: (words) => skipOptions(words.slice(1), /^-n$/),
  timeout: (words) => skipOptions(words.slice(1), /^-[ks]$/).slice(1),
  env: (words) => withoutAssignments(skipOptions(words.slice(1), /^-u$/)),
  npx: (words) => skipOptions(words.slice(1), /^(?:-p|--package)$/),
  bunx: (words) => skipOptions(words.slice(1)),
  pnpx: (words) => skipOptions(words.slice(1)),
  uvx: (words) => skipOptions(words.slice(1)),
};

/** The same for programs with commands of their own. */
const WRAPPING_COMMANDS: readonly (readonly string[])[] = [
  ["npm", "exec"],
  ["npm", "x"],
  ["pnpm", "exec"],
  ["pnpm", "dlx"],
  ["yarn", "exec"],
  ["yarn", "dlx"],
  ["bun", "x"],
  ["uv", "run"],
  ["poetry", "run"],
  ["pipenv", "run"],
  ["hatch", "run"],
  ["bundle", "exec"],
  ["rye", "run"],
  ["pdm", "run"],
  ["xvfb-run"],
];

function unwrap(words: readonly string[]): readonly string[] {
  const [program = "", command] = words;
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (wrapper) return unwrap(wrapper(words));
  const known = WRAPPING_COMMANDS.find(([name, word]) => name === program && (word ?? command) === command);
  return known ? unwrap(skipOptions(words.slice(known.length))) : words;
}

function readWords(given: readonly string[], source: CheckSource, where: Where): CheckCall[] {
  const line = readShellCall(given);
  if (line !== undefined) return findIn(line, source, { ...where, depth: where.depth + 1 });
  const own = source.own?.find(({ pattern }) => pattern.test(given.join(" ")));
  const beside = isWholeProject(where.directory, source) ? {} : { part: `in ${where.directory}` };
  if (own) return [{ name: own.name, kind: own.kind, ...beside }];
  const [program = "", ...rest] = unwrap(withoutAssignments(given));
  const words = [toProgramName(program), ...rest];
  const runner = findRunner(words);
  if (runner) {
    const check = readRunner(words, runner);
    return check ? [{ ...check, name: given.join(" "), ...(check.part === undefined && beside) }] : [];
  }
  const script = readScriptCall(words);
  if (script === undefined || NO_CHECK.test(script.further[0] ?? "")) return [];
  const directory =
    script.directory === undefined ? where.directory : joinDirectory(where.directory, script.directory);
  const name = given.join(" ");
  const text = script.isPackage ? source.findScript(script.name, directory) : undefined;
  const inside =
    text === undefined
      ? []
      : findIn(withFurther(text, script.further), source, { directory, depth: where.depth + 1 });
  if (inside.length > 0) return inside.map((check) => ({ ...check, name }));
  const kind = kindOfScript(script.name);
  if (kind === undefined || (script.isPackage && text === undefined)) return [];
  const part = isWholeProject(directory, source)
    ? findPart(script.further, { kind, words: "part" })
    : `in ${directory}`;
  return [{ name, kind, ...(part !== undefined && { part }) }];
}

/** The line that `sh -c` runs. */
function readShellCall(words: readonly string[]): string | undefined {
  const [program = "", ...rest] = unwrap(withoutAssignments(words));
  if (!/^(?:.*\/)?(?:ba|da|z)?sh$/.test(program)) return undefined;
  const at = rest.findIndex((word) => /^-[a-z]*c$/.test(word));
  return at < 0 ? undefined : rest[at + 1];
}

/** Words for a script are added to its last command, as package managers do. */
function withFurther(text: string, further: readonly string[]): string {
  const words = further.filter((word) => word !== "--");
  return [
    text,
    ...words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "")}'`)),
  ].join(" ");
}

interface FoundRunner {
  runner: Runner;
  /** How many words its name has. */
  length: number;
}

function findRunner(words: readonly string[]): FoundRunner | undefined {
  for (const length of [3, 2, 1]) {
    const name = words.slice(0, length).join(" ");
    const runner = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined;
    if (runner && words.length >= length) return { runner, length };
  }
  return undefined;
}

function readRunner(
  words: readonly string[],
  { runner, length }: FoundRunner,
): Pick<CheckCall, "kind" | "part"> | undefined {
  const further = words.slice(length);
  if (further.some((word) => NO_CHECK.test(word) && !(words[0] === "pytest" && word === "-n")))
    return undefined;
  const found = findPart(further, runner);
  return { kind: runner.kind, ...(found !== undefined && { part: found }) };
}

/** The word that makes a check one of a part of the project. */
function findPart(words: readonly string[], runner: Runner): string | undefined {
  const isTest = runner.kind === "tests";
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (isTest && FILTERS.test(word) && !WITH_VALUE.test(word)) return word;
    if (isTest && /^(?:-p|--package|--project|-k|-m)$/.test(word) && runner.words === "part") return word;
    if (WITH_VALUE.test(word)) at += 1;
    else if (!word.startsWith("-") && runner.words !== "any") {
      if (runner.words === "places" && WHOLE_PLACES.has(word.replace(/\/$/, ""))) continue;
      if (runner.words === "part" && WHOLE_PLACES.has(word.replace(/\/$/, ""))) continue;
      return word;
    }
  }
  return undefined;
}

interface ScriptCall {
  name: string;
  further: readonly string[];
  /** True for a script of a `package.json`, false for a target of make and the like. */
  isPackage: boolean;
  directory?: string;
}

const PACKAGE_MANAGERS: ReadonlySet<string> = new Set(["npm", "pnpm", "yarn", "bun"]);
const TARGET_PROGRAMS: ReadonlySet<string> = new Set([
  "make",
  "gmake",
  "just",
  "rake",
  "task",
  "gradle",
  "gradlew",
]);

function readScriptCall([program = "", ...words]: readonly string[]): ScriptCall | undefined {
  if (PACKAGE_MANAGERS.has(program)) return readPackageScript(program, words);
  if (!TARGET_PROGRAMS.has(program)) return undefined;
  const directory = optionValue(words, /^-C$/);
  const targets = words.filter(
    (word, index) => !word.startsWith("-") && !/^-[Cfj]$/.test(words[index - 1] ?? ""),
  );
  const [name = program === "make" ? "all" : ""] = targets;
  return { name, further: [], isPackage: false, ...(directory !== undefined && { directory }) };
}

function readPackageScript(program: string, words: readonly string[]): ScriptCall | undefined {
  const directory = optionValue(words, /^(?:--cwd|--prefix|--dir|-C)$/);
  const rest = skipOptions(words, /^(?:--cwd|--prefix|--dir|-C|--filter|-F|-w|--workspace)$/);
  const [first = "", ...others] = rest;
  const isRun = first === "run" || first === "run-script";
  const after = isRun ? skipOptions(others) : others;
  const name = isRun ? (after[0] ?? "") : program === "npm" && first === "t" ? "test" : first;
  const isScript = isRun || program !== "npm" || /^(?:test|t)$/.test(first);
  if (name === "" || !isScript) return undefined;
  const part = words.find((word) => /^(?:--filter|-F|-w|--workspace)(?:=|$)/.test(word));
  const place = directory ?? (part === undefined ? undefined : "a workspace");
  return {
    name,
    further: isRun ? after.slice(1) : others,
    isPackage: true,
    ...(place !== undefined && { directory: place }),
  };
}

function optionValue(words: readonly string[], option: RegExp): string | undefined {
  const at = words.findIndex((word) => option.test(word.split("=", 1)[0] ?? ""));
  return at < 0 ? undefined : (words[at]?.split("=")[1] ?? words[at + 1]);
}

/** Without leading options; those that match take the next word, too. */
function skipOptions(words: readonly string[], withValue = /^$/): readonly string[] {
  let at = 0;
  while (at < words.length && words[at]?.startsWith("-")) at += withValue.test(words[at] ?? "") ? 2 : 1;
  return words.slice(at);
}

function withoutAssignments(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  return at < 0 ? [] : words.slice(at);
}

/** `/usr/bin/python3.12` is `python`, `./node_modules/.bin/tsc` is `tsc`. */
function toProgramName(program: string): string {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return /^python\d/.test(name) ? "python" : name;
}

/** A directory seen from another one, both relative to where commands start or absolute; without words it is the home. */
function joinDirectory(directory: string, to: string | undefined): string {
  if (to === undefined) return "~";
  const joined = to.startsWith("/") ? normalize(to) : join(directory, to);
  return joined.length > 1 ? joined.replace(/\/$/, "") : joined;
}

function isWholeProject(directory: string, { cwd, root }: CheckSource): boolean {
  if (directory === "." || cwd === undefined) return directory === ".";
  const path = resolve(cwd, directory);
  return path === resolve(cwd) || (root !== undefined && path === resolve(root));
}

const TO_HERE = /\bcd ("?)\$(?:PWD|\{PWD\})\1(?=\s*(?:&&|;|\n))/g;
const TO_TOP =
  /\bcd ("?)(?:\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`)\1(?=\s*(?:&&|;|\n))/g;

/** Writes out the directories whose expansion is known, so that the line is a plain one. */
function withKnownDirectories(line: string, { root }: CheckSource): string {
  const here = line.replace(TO_HERE, "cd .");
  return root === undefined || root.includes("'") ? here : here.replace(TO_TOP, () => `cd '${root}'`);
}

/** Redirections of the two streams into each other, or into a file, do not change the exit code. */
function withoutStreams(line: string): string {
  return line.replace(/\d?>&\d|&>{1,2}\s*\S+|\d?>{1,2}\s*[^\s;|&]+/g, "");
}

function distinctWords(commands: readonly (readonly string[])[]): (readonly string[])[] {
  const seen = new Set<string>();
  return commands.filter((words) => {
    const key = words.join("\0");
    return words.length > 0 && !seen.has(key) && seen.add(key);
  });
}

function distinct(checks: readonly CheckCall[]): CheckCall[] {
  const seen = new Set<string>();
  return checks.filter(({ name, kind }) => {
    const key = `${kind}\0${name}`;
    return !seen.has(key) && seen.add(key);
  });
}
