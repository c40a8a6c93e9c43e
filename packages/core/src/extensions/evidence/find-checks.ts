import { join, normalize, resolve } from "node:path";
import type { ReadGrammar } from "../../approval/bash/grammar.ts";
import { type Pipeline, readCommand } from "../../approval/bash/parse.ts";
import { readRunnerWords } from "./runner-options.ts";
import { kindOfScript, RUNNERS } from "./runners.ts";
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

/** True for a program that shows the end of its input; `cat` and `tail` with a file show something else. */
function showsEnd([program = "", ...words]: readonly string[]): boolean {
  if (program === "tee") return true;
  if (program === "cat") return words.every((word) => /^-./.test(word));
  if (program !== "tail") return false;
  const operands = words.filter((word, at) => !/^-./.test(word) && !/^-[nc]$/.test(words[at - 1] ?? ""));
  return operands.length === 0 && !words.some((word) => word.startsWith("+"));
}

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
  const isAlone =
    commands.length === 1 && !/[;|&`]|\$\(|<\(/.test(withoutStreams(line)) && !SETS_PROGRAMS.test(line);
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
  let isDisturbed = false;
  for (const [index, { runs, commands }] of pipelines.entries()) {
    const words = commands.map((command) => command.map(({ text }) => text));
    const [first = []] = words;
    if (first[0] === "cd" && words.length === 1) directory = joinDirectory(directory, first[1]);
    if (first[0] === "set" && first.includes("pipefail")) isPiped = true;
    isDisturbed ||= words.some(disturbsLater);
    // The line's code is that of this part if it runs, and nothing does after it, or only after its success.
    const isLast =
      !isDisturbed &&
      runs !== "after_failure" &&
      pipelines.slice(index + 1).every((later) => later.runs === "after_success");
    for (const [position, command] of words.entries()) {
      const after = words.slice(position + 1);
      const isFiltered = after.every(showsEnd);
      const own = !isLast || !isFiltered ? "other" : isPiped || after.length === 0 ? undefined : "filter";
      for (const check of readWords(command, source, { ...where, directory })) {
        const hides = check.hides === "other" || own === "other" ? "other" : (check.hides ?? own);
        found.push({ ...check, ...(hides !== undefined && { hides }) });
      }
    }
  }
  return found;
}

/** An assignment that decides which program a name stands for. */
const SETS_PROGRAMS = /(?:^|[\s;&|(])(?:PATH|BASH_ENV|LD_PRELOAD)=/;

/** True for a command after which others in its line may not run, may be other programs, or have another exit code. */
function disturbsLater(words: readonly string[]): boolean {
  const [program = "", operand] = words;
  if (program === "exit" || program === "return") return operand === undefined || operand === "0";
  if (program === "set") return words.slice(1).some((word) => /^-[a-z]*n[a-z]*$|^noexec$/.test(word));
  return (
    /^(?:trap|alias|exec|hash|enable|function)$/.test(program) ||
    words.some((word) => SETS_PROGRAMS.test(word))
  );
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
  const words = withGoalFirst([toProgramName(program, source), ...rest]);
  const name = given.join(" ");
  const runner = findRunner(words);
  if (runner !== undefined) {
    const further = words.slice(runner.split(" ").length);
    const check = readRunnerWords(further, runner, RUNNERS[runner] ?? { kind: "tests", words: "part" });
    return check ? [{ name, kind: RUNNERS[runner]?.kind ?? "tests", ...beside, ...check }] : [];
  }
  return TARGET_PROGRAMS.has(words[0] ?? "")
    ? readTargetCall(words, name, source, where)
    : readPackageCall(words, name, source, where);
}

/** A script of a `package.json`, or a program that the package manager runs like one. */
function readPackageCall(
  words: readonly string[],
  name: string,
  source: CheckSource,
  where: Where,
): CheckCall[] {
  const script = readPackageScript(words);
  if (script === undefined) return [];
  const { directory: own, further } = script;
  const directory = own === undefined ? where.directory : joinDirectory(where.directory, own);
  const inside = { directory, depth: where.depth + 1 };
  const text = source.findScript(script.name, directory);
  if (text === undefined) {
    // Yarn, pnpm and bun also run the programs of installed packages.
    const isProgram = words[0] !== "npm" && findRunner([script.name, ...further]) !== undefined;
    const found = isProgram ? readWords([script.name, ...further], source, inside) : [];
    return found.map((check) => ({ ...check, name }));
  }
  const found = findIn(withFurther(text, further), source, inside);
  if (found.length > 0) return found.map((check) => ({ ...check, name }));
  const kind = kindOfScript(script.name);
  const doesNothing = readCommandWords(text, source).every(([program = ""]) => IDLE_PROGRAMS.has(program));
  if (kind === undefined || doesNothing || holdsCheckOfNothing(text, source)) return [];
  return readNamed(name, kind, further, directory, source);
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

/** The key of `RUNNERS` that the words begin with. */
function findRunner(words: readonly string[]): string | undefined {
  return [3, 2, 1]
    .filter((length) => words.length >= length)
    .map((length) => words.slice(0, length).join(" "))
    .find((name) => Object.hasOwn(RUNNERS, name));
}

/** `mvn -q clean test` is `mvn test -q`, and `cargo +nightly test` is `cargo test`: the words that `RUNNERS` has come first. */
function withGoalFirst(words: readonly string[]): readonly string[] {
  const [program = "", ...rest] = words;
  if (program === "cargo") return [program, ...rest.filter((word, at) => at > 0 || !word.startsWith("+"))];
  if (program !== "mvn") return words;
  const goal = ["verify", "test", "package", "compile"].find((name) => rest.includes(name));
  return goal === undefined ? words : [program, goal, ...rest.filter((word) => word !== goal)];
}

interface PackageScript {
  name: string;
  further: readonly string[];
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
/** Options with which these programs only show, or do not look at, what they would run. */
const SHOWS_TARGETS =
  /^(?:--dry-?run|--just-print|--recon|--question|--touch|--dry|--list\w*|--version|--help|--tasks)$/;
/** The same as letters of one program. */
const SHOWING_LETTERS: Readonly<Record<string, RegExp>> = {
  make: /^-[bBdeikrRsSw]*[nqtv][bBdeiknqrRsStvw]*$/,
  gmake: /^-[bBdeikrRsSw]*[nqtv][bBdeiknqrRsStvw]*$/,
  gradle: /^-[mv]$/,
  gradlew: /^-[mv]$/,
  rake: /^-[nTPV]$/,
  just: /^-[nl]$/,
  task: /^-[nla]$/,
};
const IGNORES_ERRORS = /^(?:--ignore-errors|--continue-on-failure|-[ks]*i[ks]*)$/;
const PART_OF_TARGET =
  /^(?:--tests|-p|--project-dir|-x|--exclude-task)$|^(?:\w*(?:TEST|SUITE|FILTER|ONLY|ARGS|PKG|PACKAGE|FILE)\w*|T|K|RUN)=./;

/** A target of make and the like; it is known by its name only. */
function readTargetCall(
  [program = "", ...words]: readonly string[],
  name: string,
  source: CheckSource,
  where: Where,
): CheckCall[] {
  const isGradle = program.startsWith("gradle");
  if (words.some((word) => SHOWS_TARGETS.test(word) || SHOWING_LETTERS[program]?.test(word))) return [];
  const own = optionValue(words, /^-C$/);
  const directory = own === undefined ? where.directory : joinDirectory(where.directory, own);
  const targets = words.filter(
    (word, index) =>
      !word.startsWith("-") &&
      !/^\w+=/.test(word) &&
      !/^(?:-[Cfjpx]|--tests|--project-dir|--exclude-task)$/.test(words[index - 1] ?? ""),
  );
  const kinds = (targets.length === 0 && program === "make" ? ["all"] : targets).map(kindOfScript);
  const kind = kinds.find((found) => found === "tests") ?? kinds.find((found) => found !== undefined);
  if (kind === undefined) return [];
  const part = words.filter((word) => PART_OF_TARGET.test(word));
  const ignores = !isGradle && words.some((word) => IGNORES_ERRORS.test(word));
  return readNamed(name, kind, [], directory, source).map((check) => ({
    ...check,
    ...(part[0] !== undefined && { part: part[0] }),
    ...(ignores && { hides: "other" as const }),
  }));
}

/** A check that is known by the name of its script or target only. */
function readNamed(
  name: string,
  kind: CheckKind,
  further: readonly string[],
  directory: string,
  source: CheckSource,
): CheckCall[] {
  const check = readRunnerWords(further, "", { kind, words: "part" });
  if (check === undefined) return [];
  return [{ name, kind, ...check, ...(!isWholeProject(directory, source) && { part: `in ${directory}` }) }];
}

/** Programs that check nothing, whatever their words. */
const IDLE_PROGRAMS: ReadonlySet<string> = new Set([
  "echo",
  "printf",
  "true",
  "false",
  ":",
  "exit",
  "sleep",
  "cd",
]);

function readCommandWords(text: string, source: CheckSource): (readonly string[])[] {
  const reading = readCommand(text, source.readGrammar);
  return reading.kind === "plain"
    ? reading.pipelines.flatMap(({ commands }) => commands.map((words) => words.map((word) => word.text)))
    : reading.commands;
}

/** True if a script's own commands are runners, of which none checks anything, as in `tsc --version`. */
function holdsCheckOfNothing(text: string, source: CheckSource): boolean {
  return readCommandWords(text, source).some(
    ([program = "", ...rest]) => findRunner([toProgramName(program, source), ...rest]) !== undefined,
  );
}

function readPackageScript([program = "", ...words]: readonly string[]): PackageScript | undefined {
  if (!PACKAGE_MANAGERS.has(program)) return undefined;
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

/** Places in a project whose programs are those that they are named for. */
const INSTALLED = /(?:^|\/)(?:node_modules\/\.bin|vendor\/bin|\.?v?env\w*\/bin|\.tox\/[^/]+\/bin)\/[^/]+$/;
const PROJECT_WRAPPERS = /^(?:\.\/)?(?:gradlew|mvnw|bin\/(?:rails|rspec|rake))$/;

/**
 * `/usr/bin/python3.12` is `python`, `./node_modules/.bin/tsc` is `tsc`. A program of the project itself keeps its path:
 * it may do anything.
 */
function toProgramName(program: string, { cwd, root = cwd }: CheckSource): string {
  const isInProject = program.startsWith("/")
    ? root !== undefined && program.startsWith(`${root}/`)
    : program.includes("/");
  if (isInProject && !INSTALLED.test(program) && !PROJECT_WRAPPERS.test(program)) return program;
  const name = program.slice(program.lastIndexOf("/") + 1);
  return name === "mvnw" ? "mvn" : name.replace(/^python\d.*/, "python");
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
