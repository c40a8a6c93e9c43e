import { readdirSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

/** Where the scripts of a project are looked up. */
export interface ScriptPlace {
  /** Absolute. */
  cwd: string;
  /** The text of a file, undefined if there is none. @param path absolute. */
  readFile(path: string): string | undefined;
  /** What the call gets as its standard input, if that is known. */
  stdin?: string | undefined;
  /** The value of an environment variable of the call. */
  variable(name: string): string | undefined;
}

/** A line that a call runs, and where. */
export interface ScriptLine {
  line: string;
  cwd: string;
}

/** A file with recipes: its text, and the directory in which they run. */
export interface RecipeFile {
  text: string;
  directory: string;
}

/** The first of these files that there is, also in a directory above, as most runners look for theirs. */
export function findRecipeFile(
  names: readonly string[],
  from: string,
  { readFile }: Pick<ScriptPlace, "readFile">,
): RecipeFile | undefined {
  for (let directory = from; ; directory = dirname(directory)) {
    for (const name of names) {
      const text = readFile(join(directory, name));
      if (text !== undefined) return { text, directory };
    }
    if (directory === dirname(directory)) return undefined;
  }
}

/** @param path relative to the directory, or absolute. */
export function placeIn(directory: string, path: string): string {
  return isAbsolute(path) ? path : join(directory, path);
}

/** The value of an option, in the next word, after `=`, or attached to `-C`, `-f`, `-d` or `-t`. */
export function optionValue(words: readonly string[], option: RegExp): string | undefined {
  return optionValues(words, option)[0];
}

/** All values of an option that may be repeated. */
export function optionValues(words: readonly string[], option: RegExp): string[] {
  return words.flatMap((word, index) => {
    const [name = "", ...value] = word.split("=");
    if (option.test(name)) {
      if (value.length > 0) return [value.join("=")];
      return words[index + 1] === undefined ? [] : [words[index + 1] ?? ""];
    }
    const attached = /^(-[Cfdt])(.+)$/.exec(word);
    return attached && option.test(attached[1] ?? "") ? [attached[2] ?? ""] : [];
  });
}

/** The files that a pattern such as `mk/*.mk` in the last name means; the path itself if there is no pattern. */
export function listIncluded(path: string): string[] {
  const name = basename(path);
  if (!/[*?[]/.test(name)) return [path];
  try {
    const glob = new Bun.Glob(name);
    return readdirSync(dirname(path))
      .filter((each) => glob.match(each))
      .map((each) => join(dirname(path), each));
  } catch {
    return []; // The directory does not exist: then nothing is included.
  }
}

/** The settings of a parsed file; empty for anything else than an object. */
export function toSettings(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
