import { basename, isAbsolute, join } from "node:path";
import { hasOption } from "./match-command.ts";
import { listSedCommands } from "./shell/sed-commands.ts";
import { isKnown } from "./shell/text-value.ts";

/** What a call writes, creates, removes or reads, as far as its words say it; paths are as written. */
export interface TouchedPaths {
  /** Changed, created or removed. */
  written: readonly string[];
  /** Removed or moved with everything below. */
  removed: readonly string[];
  /** Operands that may be files that it reads. */
  read: readonly string[];
}

const NOTHING: TouchedPaths = { written: [], removed: [], read: [] };

/** Programs of which every operand is written. */
const WRITERS: ReadonlySet<string> = new Set([
  "touch",
  "mkdir",
  "truncate",
  "tee",
  "sponge",
  "ed",
  "ex",
  "mkfifo",
  "patch",
  "vim",
  "vi",
  "nvim",
  "nano",
  "emacs",
  "dos2unix",
  "unix2dos",
]);
/** Programs that never show what is in their operands. */
const NEVER_READ: ReadonlySet<string> = new Set(
  "ls stat chmod chown chgrp touch mkdir mkfifo truncate tee sponge basename dirname realpath readlink du".split(
    " ",
  ),
);
const REMOVERS: ReadonlySet<string> = new Set(["rm", "rmdir", "unlink", "shred", "trash", "rimraf"]);
/** Programs that write their last operand, or into it. */
const COPIERS: ReadonlySet<string> = new Set(["cp", "install", "ln", "rsync", "scp", "ditto"]);
/** Programs that rewrite files with one of these options. */
const REWRITERS: Readonly<Record<string, readonly string[]>> = {
  sed: ["-i", "--in-place"],
  gsed: ["-i"],
  perl: ["-i"],
  ruby: ["-i"],
  prettier: ["--write", "-w"],
  eslint: ["--fix"],
  biome: ["--write", "--apply", "--fix"],
  awk: ["inplace"],
  gawk: ["inplace"],
  gofmt: ["-w"],
  goimports: ["-w"],
  shfmt: ["-w"],
  yq: ["-i"],
  sd: [],
  black: [],
  isort: [],
  rustfmt: [],
};
/** Options whose value is a file that is written. */
const OUTPUT = /^(?:-o|-O|-out|--output|--out|--out-?file|--output-document|-of|--out-?dir)$/i;
/** Programs whose words are no files. */
const NO_FILES: ReadonlySet<string> = new Set([
  "echo",
  "printf",
  "export",
  "alias",
  "cd",
  "set",
  "test",
  "[",
  "npm",
  "yarn",
  "pnpm",
  "bun",
  "git",
  "gh",
  "kill",
  "which",
  "command",
  "type",
]);

/** @param isDirectory of a path as written. */
export function findTouchedPaths(
  words: readonly string[],
  isDirectory: (path: string) => boolean,
): TouchedPaths {
  const [program = "", ...args] = words;
  const operands = args.filter((word) => !word.startsWith("-") && word !== "");
  const outputs = args.flatMap((word, index) => {
    const [name = "", ...value] = word.split("=");
    if (program === "dd" && name === "of") return [value.join("=")];
    if (
      !OUTPUT.test(name) ||
      (/^(?:grep|rg|set|ps|bash|sh|ssh|mount|find|test|git|tar|ls|sort)$/.test(program) &&
        !(program === "sort" && name === "-o"))
    )
      return [];
    return value.length > 0
      ? [value.join("=")]
      : args[index + 1] === undefined
        ? []
        : [args[index + 1] ?? ""];
  });
  outputs.push(...(/^g?sed$/.test(program) ? listSedCommands(args).flatMap(({ file }) => file ?? []) : []));
  const read = NO_FILES.has(program)
    ? args.flatMap((word, index) =>
        word.startsWith("--env-file=")
          ? word.slice("--env-file=".length)
          : args[index - 1] === "--env-file"
            ? word
            : [],
      )
    : [
        ...(NEVER_READ.has(program) ? [] : operands),
        ...args.filter((word) => /^-.*=./.test(word)).map((word) => word.slice(word.indexOf("=") + 1)),
        ...args.flatMap((word) => toSentFile(program, word)),
      ];
  if (program === "git") return findGitPaths(args, operands, isDirectory);
  if (REMOVERS.has(program)) return { written: outputs, removed: operands, read: [] };
  if (program === "mv" || program === "rename")
    return {
      written: withNames(operands, isDirectory),
      removed: operands.slice(0, -1),
      read: operands.slice(0, -1),
    };
  // A directory that exists stays as it is.
  if (program === "mkdir" && args.some((word) => /^-[a-z]*p|^--parents$/.test(word)))
    return { written: operands.filter((path) => !isDirectory(path)), removed: [], read };
  if (WRITERS.has(program)) return { written: [...operands, ...outputs], removed: [], read };
  if (COPIERS.has(program)) {
    const target = optionValue(args, /^(?:-t|--target-directory)$/);
    return {
      written:
        target === undefined
          ? withNames(operands, isDirectory)
          : [target, ...operands.map((path) => join(target, basename(path)))],
      removed: [],
      read: target === undefined ? read.filter((path) => path !== operands.at(-1)) : read,
    };
  }
  const rewriting = Object.hasOwn(REWRITERS, program) ? REWRITERS[program] : undefined;
  if (
    rewriting &&
    (rewriting.length === 0 ||
      rewriting.some((option) =>
        args.some(
          (word) =>
            word === option ||
            word.startsWith(`${option}=`) ||
            (option.length === 2 && /^-[A-Za-z.]*$/.test(word) && word.includes(option.slice(1))) ||
            (option === "-i" && /^-i/.test(word)),
        ),
      ))
  )
    return { written: [...withoutScript(program, args, operands), ...outputs], removed: [], read };
  if (program === "find" || program === "fd") return findDeleted(args, operands);
  if (
    program === "tar" &&
    args.some(
      (word, index) =>
        /^-[a-zA-Z]*x/.test(word) ||
        (index === 0 && /^[a-zA-Z]*x/.test(word)) ||
        /^--(?:extract|get)$/.test(word),
    )
  )
    return { written: [optionValue(args, /^(?:-C|--directory)$/) ?? "."], removed: [], read: [] };
  // Their last operand, or an option, begins the names of the files.
  if (program === "split" || program === "csplit") {
    const prefix =
      optionValue(args, /^(?:-f|--prefix)$/) ?? (program === "split" ? operands.slice(1).at(-1) : undefined);
    return { written: prefix === undefined ? [] : [`${prefix}aa`], removed: [], read };
  }
  if (/^sqlite3?$/.test(program)) return { written: operands.slice(0, 1), removed: [], read };
  if (program === "unzip")
    return { written: [optionValue(args, /^-d$/) ?? "."], removed: [], read: operands.slice(0, 1) };
  return { written: outputs, removed: [], read };
}

/** The file of a word such as `@data.json`, which a program reads; curl also takes it behind the name of a field. */
function toSentFile(program: string, word: string): string[] {
  const pattern =
    program === "curl"
      ? /^(?:-[A-Za-z]+|--[\w-]+=)?(?:[^@=<]*=)?[@<]([^;]+)/
      : /^(?:[\w.-]+[:=]{1,2})?@(.+)$/;
  const file = pattern.exec(word)?.[1];
  return file === undefined ? [] : [file];
}

/** What `find -delete` removes: with a condition, some of what is below. */
function findDeleted(args: readonly string[], operands: readonly string[]): TouchedPaths {
  if (!args.includes("-delete")) return { written: [], removed: [], read: operands };
  const first = args.findIndex((word) => word.startsWith("-"));
  const places = args.slice(0, first);
  const isAll = !args.some((word) =>
    /^-(?:i?name|i?path|i?regex|type|newer|size|[mac]time|empty)$/.test(word),
  );
  const names = args.flatMap((word, index) => {
    const value = args[index + 1] ?? "";
    return word === "-name" ? value : word === "-iname" ? toAnyCase(value) : [];
  });
  const isOther = args.some((word) => /^-(?:not|o|or|i?path|i?regex|prune)$|^!$/.test(word));
  // Where other conditions decide, the names alone do not say what is removed.
  const found = isOther || isAll ? [] : places.map((place) => join(place, "**", names[0] ?? "*"));
  return { written: [...places, ...found], removed: isAll ? places : [], read: places };
}

function toAnyCase(pattern: string): string {
  return pattern.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

/** The operands of an editor of streams without its program. */
function withoutScript(
  program: string,
  args: readonly string[],
  operands: readonly string[],
): readonly string[] {
  const scripts = args.flatMap((word, index) =>
    /^(?:-[a-zA-Z]*[eE]|-f|--expression|--file)$/.test(word) ? [args[index + 1]] : [],
  );
  if (scripts.length > 0) return operands.filter((word) => !scripts.includes(word));
  const isInline = args.some((word) => /^(?:-e.|--expression=|--file=|-f.)/.test(word));
  const count = program === "sd" ? 2 : /^(?:g?sed|yq)$/.test(program) && !isInline ? 1 : 0;
  return operands.slice(count);
}

/** The files that git changes in the working tree by their names. */
function findGitPaths(
  args: readonly string[],
  operands: readonly string[],
  isDirectory: (path: string) => boolean,
): TouchedPaths {
  const [command = "", ...rest] = operands;
  const end = args.indexOf("--");
  const named = end < 0 ? rest : args.slice(end + 1);
  if (command === "rm") return { written: [], removed: named, read: [] };
  if (command === "mv")
    return { written: withNames(rest, isDirectory), removed: rest.slice(0, -1), read: [] };
  if (command === "restore")
    return hasOption(["git", ...args], "--staged") && !hasOption(["git", ...args], "--worktree")
      ? NOTHING
      : { written: named, removed: [], read: [] };
  if (command === "stash") return { written: end < 0 ? [] : named, removed: [], read: [] };
  if (command === "clean" && args.some((word) => /^-[a-zA-Z]*f|^--force$/.test(word)))
    return { written: [], removed: rest, read: [] };
  if (command === "checkout") return { written: end < 0 ? rest.slice(1) : named, removed: [], read: [] };
  if (command === "show" || command === "diff" || command === "blame" || command === "cat-file")
    return { written: [], removed: [], read: rest.map((word) => word.replace(/^[^:]*:/, "")) };
  return NOTHING;
}

/** The files that a patch changes which `patch`, `git apply` or `git am` is given. */
export function findPatchedPaths(
  words: readonly string[],
  { stdin, readFile }: { stdin: string | undefined; readFile(path: string): string | undefined },
): string[] {
  const [program = "", ...args] = words;
  const operands = args.filter((word) => !word.startsWith("-"));
  const isGit = program === "git" && /^(?:apply|am)$/.test(operands[0] ?? "");
  if (program !== "patch" && !isGit) return [];
  const input = args.find((_, index) => /^(?:-i|--input)$/.test(args[index - 1] ?? ""));
  const files = [
    ...(isGit ? operands.slice(1) : operands.slice(1, 2)),
    ...(input === undefined ? [] : [input]),
  ];
  const texts = [stdin, ...files.map(readFile)];
  const strip = Number(/^-p(\d)$/.exec(args.find((word) => /^-p\d$/.test(word)) ?? "-p1")?.[1]);
  return texts.flatMap((text) =>
    [...(text ?? "").matchAll(/^(?:\+\+\+|---|rename (?:from|to)) ([^\t\n]+)/gm)].flatMap(
      ([line, path = ""]) => {
        if (path === "/dev/null") return [];
        return line.startsWith("rename") ? [path] : [path.split("/").slice(strip).join("/")];
      },
    ),
  );
}

/** The destination, and what lies in it afterwards if it is a directory. */
function withNames(operands: readonly string[], isDirectory: (path: string) => boolean): string[] {
  const target = operands.at(-1);
  if (target === undefined || operands.length < 2) return [];
  if (operands.length === 2 && !target.endsWith("/") && !isDirectory(target)) return [target];
  return [target, ...operands.slice(0, -1).map((path) => join(target, basename(path)))];
}

function optionValue(args: readonly string[], option: RegExp): string | undefined {
  const at = args.findIndex((word) => option.test(word.split("=", 1)[0] ?? ""));
  if (at < 0) return undefined;
  return args[at]?.includes("=") ? args[at]?.replace(/^[^=]*=/, "") : args[at + 1];
}

/** Makes a path absolute; undefined if it is not known, or no path. */
export function toAbsolutePath(path: string, cwd: string): string | undefined {
  if (path === "" || !isKnown(path) || path.length > 4_096) return undefined;
  return isAbsolute(path) ? path : join(cwd, path);
}
