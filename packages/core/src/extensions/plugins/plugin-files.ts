import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { readDirectory } from "../../infrastructure/fs/directory.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { revealInvisible } from "../../infrastructure/text/unicode.ts";
import { PluginError } from "./plugin-error.ts";

/** An entry of a plugin's tree; its content is read later. */
export interface PluginEntry {
  /** Relative, with slashes. */
  path: string;
  kind: "file" | "link";
  isExecutable: boolean;
  /** Bytes. */
  size: number;
}

/** An entry with its content: the bytes of a file, or the target of a link. */
export interface PluginFile extends PluginEntry {
  content: Uint8Array;
}

/** The tree of a source, of which only some files are read. */
export interface PluginTree {
  entries: readonly PluginEntry[];
  /** What the tree has, but a plugin does not get, such as submodules; sentences. */
  remarks: readonly string[];
  /** In the order of `entries`. */
  read(entries: readonly PluginEntry[]): Promise<PluginFile[]>;
}

/** The largest plugin. */
export const MAX_PLUGIN_FILES = 5_000;
export const MAX_PLUGIN_BYTES = 50 * 1024 * 1024;
/** A repository may hold many plugins. */
export const MAX_TREE_ENTRIES = 100_000;
const MAX_PATH_CHARS = 1_000;

/** @throws PluginError if the entries are too many or too large, or have names that are not safe. */
export function checkEntries(entries: readonly PluginEntry[]): void {
  if (entries.length > MAX_PLUGIN_FILES)
    throw new PluginError(`It has ${entries.length} files; a plugin may have ${MAX_PLUGIN_FILES}.`);
  const bytes = entries.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_PLUGIN_BYTES)
    throw new PluginError(
      `It has ${Math.ceil(bytes / 1e6)} MB; a plugin may have ${Math.floor(MAX_PLUGIN_BYTES / 1e6)} MB.`,
    );
  for (const { path } of entries)
    if (!isSafePath(path))
      throw new PluginError(`It has a file with an unsafe name: ${revealInvisible(path)}.`);
}

/** True for a relative path without `..`, `.git`, control characters and empty parts. */
function isSafePath(path: string): boolean {
  if (path.length > MAX_PATH_CHARS || path.includes("\uFFFD") || revealInvisible(path) !== path) return false;
  return path
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && !/^\.git$/i.test(part));
}

/** Identifies what the user agrees to: every path, kind, permission to run and content. */
export function hashFiles(files: readonly PluginFile[]): string {
  const hash = new Bun.SHA256();
  const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
  for (const { path, kind, isExecutable, content } of sorted)
    hash.update(`${JSON.stringify([path, kind, isExecutable, Bun.SHA256.hash(content, "hex")])}\n`);
  return hash.digest("hex");
}

/**
 * Writes the files of a plugin into a directory, which is created.
 * @throws PluginError for a link that leads out of it, or nowhere.
 */
export function writeFiles(directory: string, files: readonly PluginFile[]): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const root = realpathSync(directory);
  const links = files.filter(({ kind }) => kind === "link");
  for (const { path, content, isExecutable } of files.filter(({ kind }) => kind === "file")) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(target, content, { flag: "wx", mode: 0o600 });
    if (isExecutable) chmodSync(target, 0o700);
  }
  // Only when all files are there: nothing is written through a link.
  for (const { path, content } of links) {
    mkdirSync(dirname(join(root, path)), { recursive: true, mode: 0o700 });
    const target = new TextDecoder().decode(content);
    if (target.startsWith("/") || normalize(join(dirname(path), target)).startsWith(".."))
      throw new PluginError(`Its link ${path} leads out of it, to ${revealInvisible(target)}.`);
    symlinkSync(target, join(root, path));
  }
  for (const { path } of links)
    if (!leadsInside(join(root, path), root))
      throw new PluginError(`Its link ${path} leads out of it, or nowhere.`);
}

function leadsInside(path: string, root: string): boolean {
  try {
    return isInside(realpathSync(path), root);
  } catch {
    return false; // It leads nowhere, or in a circle.
  }
}

/** The files in a directory, without following links; repositories in it are left out. @throws PluginError */
export function openDirectory(root: string): PluginTree {
  const entries: PluginEntry[] = [];
  const remarks: string[] = [];
  let level = [root];
  while (level.length > 0) {
    const next: string[] = [];
    for (const directory of level) {
      for (const { name, kind } of readDirectory(directory)) {
        const path = join(directory, name);
        if (/^\.git$/i.test(name)) continue;
        if (kind === "directory") next.push(path);
        else if (kind === "other") remarks.push(`${relative(root, path)} is neither a file nor a link.`);
        else entries.push(toEntry(root, path, kind));
        if (entries.length + next.length > MAX_TREE_ENTRIES)
          throw new PluginError(`${root} has more than ${MAX_TREE_ENTRIES} files.`);
      }
    }
    level = next;
  }
  return { entries, remarks, read: async (wanted) => wanted.map((entry) => readEntry(root, entry)) };
}

function toEntry(root: string, path: string, kind: "file" | "link"): PluginEntry {
  const { size, mode } = lstatSync(path);
  return { path: relative(root, path), kind, isExecutable: kind === "file" && (mode & 0o100) !== 0, size };
}

function readEntry(root: string, entry: PluginEntry): PluginFile {
  const path = join(root, entry.path);
  const content = entry.kind === "link" ? new TextEncoder().encode(readlinkSync(path)) : readFileSync(path);
  return { ...entry, content, size: content.length };
}
