import { statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { findDirectoriesUpwards, findRealPath, isInside, splitPath } from "../infrastructure/fs/real-path.ts";
import { type Environment, homeDirectory } from "../infrastructure/runtime.ts";
import type { ConfigWarning } from "./errors.ts";
import { readInstructionFile, SeenInstructions } from "./instruction-file.ts";
import type { InstructionImports } from "./instruction-imports.ts";
import { type DiscoveredInstruction, INSTRUCTION_FILES, openImports } from "./instructions.ts";

/** Instructions of a directory below the working directory. */
export interface NestedInstruction extends DiscoveredInstruction {
  /** Eight hexadecimal digits that identify its path together with its content. */
  mark: string;
}

/** Where to search, and what the model knows already. */
interface NestedOptions {
  /** The working directory. */
  cwd: string;
  environment: Environment;
  /** The instructions of the system prompt, which are not repeated. */
  inPrompt: readonly DiscoveredInstruction[];
  onWarning?: ((warning: ConfigWarning) => void) | undefined;
}

/** The instructions of other people's packages are not meant for this project. */
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * The instructions of the directories between the working directory and a file or directory below it, general before
 * specific, each before its imports, under the same conditions as those of `discoverInstructions`. None for a path
 * outside the working directory.
 */
export async function findNestedInstructions(
  path: string,
  { cwd, environment, inPrompt, onWarning }: NestedOptions,
): Promise<NestedInstruction[]> {
  const directories = listDirectories(path, cwd);
  if (directories.length === 0) return [];
  const home = homeDirectory(environment);
  const boundaries = [findDirectoriesUpwards(cwd, home).repository ?? findRealPath(cwd, "/") ?? cwd];
  const seen = new SeenInstructions();
  for (const { path: known, content } of inPrompt) seen.add({ path: known, realPath: known, content });
  let imports: InstructionImports | undefined;
  const found: NestedInstruction[] = [];
  const add = (instruction: DiscoveredInstruction) =>
    found.push({ ...instruction, mark: markOf(instruction) });
  for (const directory of directories) {
    for (const name of INSTRUCTION_FILES) {
      const { file, warnings } = await readInstructionFile(join(directory, name), boundaries);
      if (file && seen.has(file)) continue;
      for (const warning of warnings) onWarning?.(warning);
      if (!file) continue;
      seen.add(file);
      add({ path: file.path, content: file.content });
      if (!file.content.includes("@")) continue;
      imports ??= await openImports({ home, seen, onWarning });
      for (const imported of await imports.load(file, boundaries)) add(imported);
    }
  }
  return found;
}

/** From the one next to the working directory down to the one of the path. */
function listDirectories(path: string, cwd: string): string[] {
  const start = findRealPath(cwd, "/");
  const target = findRealPath(path, cwd);
  if (start === undefined || target === undefined || !isInside(target, start)) return [];
  const last = isDirectory(target) ? target : dirname(target);
  const parts = splitPath(relative(start, last));
  if (parts.includes("..") || parts.some((part) => SKIPPED.has(part))) return [];
  return parts.map((_, index) => join(start, ...parts.slice(0, index + 1)));
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

const MARK_CHARACTERS = 8;

function markOf({ path, content }: DiscoveredInstruction): string {
  return Bun.SHA256.hash(`${path}\n${content}`, "hex").slice(0, MARK_CHARACTERS);
}
