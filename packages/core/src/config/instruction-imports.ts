import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { entryExists } from "../infrastructure/fs/read.ts";
import { isInside } from "../infrastructure/fs/real-path.ts";
import { isSecretFile } from "../infrastructure/paths/secret-files.ts";
import type { ConfigWarning } from "./errors.ts";
import {
  type InstructionFile,
  instructionWarning,
  readInstructionFile,
  type SeenInstructions,
} from "./instruction-file.ts";

/** An imported file and the file that names it. */
interface ImportedInstruction {
  path: string;
  content: string;
  importedBy: string;
}

/** What imports may refer to, and what a prompt contains already. */
export interface ImportOptions {
  /** The directory that a leading `~/` names. */
  home: string | undefined;
  /** Recognizes files that the prompt contains already. */
  seen: SeenInstructions;
  onWarning?: ((warning: ConfigWarning) => void) | undefined;
}

// The same depth as in other agents; deeper chains are usually mistakes.
const MAX_DEPTH = 5;
// Together with the importing files this remains a small part of a window of 200,000 tokens.
const MAX_IMPORTED_CHARACTERS = 65_536;
const MAX_IMPORTED_FILES = 32;

/** Follows the `@path` imports of instruction files; the limits on number and size apply to all of them together. */
export class InstructionImports {
  private files = 0;
  private characters = 0;

  constructor(private readonly deps: ImportOptions) {}

  /**
   * The files that `file` imports, and those that they import, in reading order. A file that was seen before is left
   * out, which ends cycles.
   * @param boundaries the directories of which one must contain each of them.
   */
  async load(
    file: Pick<InstructionFile, "path" | "realPath" | "content">,
    boundaries: readonly string[],
    depth = 1,
  ): Promise<ImportedInstruction[]> {
    const imported: ImportedInstruction[] = [];
    for (const name of findImports(file.content)) {
      const found = await this.read(name, file, { boundaries, depth });
      if (!found) continue;
      imported.push({ path: found.path, content: found.content, importedBy: file.path });
      imported.push(...(await this.load(found, boundaries, depth + 1)));
    }
    return imported;
  }

  private async read(
    name: string,
    { path: importer, realPath }: Pick<InstructionFile, "path" | "realPath">,
    { boundaries, depth }: { boundaries: readonly string[]; depth: number },
  ): Promise<InstructionFile | undefined> {
    const { home, seen } = this.deps;
    const path = locateImport(name, dirname(realPath), home);
    const refuse = (reason: string) =>
      this.warn(path ?? name, `is not loaded: ${reason} (imported by ${importer})`);
    if (path === undefined || !exists(path)) {
      // A name after an @ may also be a person or a package.
      if (PATH_LIKE.test(name)) refuse("there is no such file");
      return undefined;
    }
    if (mayHoldSecrets(path, boundaries)) return refuse("it may hold keys or passwords");
    if (/\/\.git(?:\/|$)/.test(path)) return refuse("it belongs to git");
    const { file, warnings } = await readInstructionFile(path, boundaries);
    if (file && mayHoldSecrets(file.realPath, boundaries)) return refuse("it may hold keys or passwords");
    if (file && seen.has(file)) return undefined;
    if (depth > MAX_DEPTH) return refuse(`imports are followed to a depth of ${MAX_DEPTH}`);
    for (const warning of warnings) this.deps.onWarning?.(warning);
    if (!file) return undefined;
    if (this.files >= MAX_IMPORTED_FILES) return refuse(`at most ${MAX_IMPORTED_FILES} files are imported`);
    if (this.characters + file.content.length > MAX_IMPORTED_CHARACTERS)
      return refuse(`imports may have ${MAX_IMPORTED_CHARACTERS} characters in total`);
    seen.add(file);
    this.files += 1;
    this.characters += file.content.length;
    return file;
  }

  private warn(path: string, message: string): undefined {
    this.deps.onWarning?.(instructionWarning("instructions_not_loaded", path, message));
  }
}

// The keys of providers, among other settings.
const OWN_CONFIGURATION = "diligent.jsonc";

/** The name of the innermost boundary says nothing: it contains the user's own instructions. */
function mayHoldSecrets(path: string, boundaries: readonly string[]): boolean {
  const outer = boundaries.filter((directory) => isInside(path, directory));
  const innermost = outer.toSorted((left, right) => right.length - left.length)[0] ?? "/";
  return basename(path) === OWN_CONFIGURATION || isSecretFile(relative(innermost, path));
}

/** A path with an extension, or one that begins like a path. */
const PATH_LIKE = /^(?:\.{0,2}\/|~\/)|\.[a-z][a-z0-9]{0,7}$/i;

function locateImport(name: string, directory: string, home: string | undefined): string | undefined {
  if (name.includes("\0")) return undefined;
  if (name.startsWith("~/")) return home === undefined ? undefined : join(home, name.slice(2));
  return isAbsolute(name) ? resolve(name) : resolve(directory, name);
}

function exists(path: string): boolean {
  try {
    return entryExists(path);
  } catch {
    // Not accessible: reading it reports the reason.
    return true;
  }
}

/** For one prompt. */
export function createInstructionImports(options: ImportOptions): InstructionImports {
  return new InstructionImports(options);
}

// An address such as user@example.com has a character before the @.
const IMPORT = /(?<=^|[\s(])@([^\s`"'<>()[\]{}@,;]+)/g;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The paths that a Markdown text imports with `@path`, in order, each once; code spans and blocks are not searched. */
export function findImports(text: string): string[] {
  const names = new Set<string>();
  for (const [, name = ""] of withoutCode(text).matchAll(IMPORT)) {
    // A sentence may end behind the path.
    const path = name.replace(/[.:!?*_]+$/, "");
    if (path !== "" && path !== "~" && !/^\.*\/*$/.test(path)) names.add(path);
  }
  return [...names];
}

const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;

function withoutCode(text: string): string {
  const prose: string[] = [];
  let fence: string | undefined;
  let isInList = false;
  let mayBeCode = true;
  for (const line of withoutComments(text).split("\n")) {
    const [, mark] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      continue;
    }
    const isIndented = /^(?: {4}|\t)/.test(line);
    if (LIST_ITEM.test(line)) isInList = true;
    else if (line.trim() !== "" && !isIndented) isInList = false;
    fence = mark;
    // An indented line is code only at the start of a paragraph, and not in a list.
    const isCode: boolean = isIndented && mayBeCode && !isInList;
    if (fence === undefined && !isCode) prose.push(line);
    mayBeCode = line.trim() === "" || isCode;
  }
  return prose.join("\n").replace(/(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, " ");
}

function withoutComments(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = text.indexOf("<!--"); start >= 0; start = text.indexOf("<!--", at)) {
    parts.push(text.slice(at, start));
    const end = text.indexOf("-->", start);
    // A comment without an end lasts to the end of the text.
    if (end < 0) return parts.join(" ");
    at = end + "-->".length;
  }
  return [...parts, text.slice(at)].join(" ");
}
