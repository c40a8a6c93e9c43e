import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";

/** Directories with what programs make, and files that no check reads. */
const IGNORED_DIRECTORIES: ReadonlySet<string> = new Set([
  ...[
    ".git",
    ".diligent",
    "node_modules",
    "dist",
    "build",
    "out",
    "target",
    "coverage",
    "vendor",
    "tmp",
    "logs",
  ],
  ...[
    ".next",
    ".nuxt",
    ".venv",
    "venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
  ],
  ...[".turbo", ".cache", ".gradle", ".idea", ".parcel-cache", ".svelte-kit", "htmlcov", ".nyc_output"],
]);
const IGNORED_FILES =
  /\.(?:md|mdx|txt|log|tsbuildinfo|pyc|lock|map|snap\.new)$|^(?:LICENSE|\.DS_Store|\.coverage)/i;

// A larger project is looked at as far as this; what is not seen then does not count as changed.
const MAX_ENTRIES = 50_000;
const MAX_FOUND = 100;
// A program that makes a file under another name first renames it a little later.
const SAME_MOMENT_MS = 50;

/** True for a file whose change makes an earlier check say nothing about the project any more. */
export function matters(path: string): boolean {
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  return !IGNORED_FILES.test(name) && !parts.slice(0, -1).some((part) => IGNORED_DIRECTORIES.has(part));
}

/**
 * The files below a directory that matter and were changed after a time, in milliseconds since the epoch, and the
 * directories that have lost an entry since; relative, at most 100. It gives way now and then, so that it blocks nothing.
 */
export async function findChangedSince(root: string, sinceMs: number): Promise<string[]> {
  const found: string[] = [];
  const directories = [""];
  let seen = 0;
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const changedAtMs = statEntry(join(root, directory))?.mtimeMs ?? 0;
    let hasLost = changedAtMs > sinceMs;
    for (const entry of readEntries(join(root, directory))) {
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (++seen > MAX_ENTRIES || found.length >= MAX_FOUND) return found;
      if (seen % 1_000 === 0) await Bun.sleep(0);
      const isFile = entry.isFile();
      const isRead = isFile ? matters(path) : entry.isDirectory() && !IGNORED_DIRECTORIES.has(entry.name);
      if (isRead && !isFile) directories.push(path);
      const stats = hasLost || (isFile && isRead) ? statEntry(join(root, path)) : undefined;
      if (!stats) continue;
      if (isFile && isRead && Math.max(stats.mtimeMs, stats.ctimeMs) > sinceMs) found.push(path);
      // A directory changes with each new entry and each lost one. The last change was a new one if that is there.
      const isNew = [stats.birthtimeMs, ...(entry.isDirectory() ? [] : [stats.ctimeMs])].some(
        (atMs) => Math.abs(atMs - changedAtMs) < SAME_MOMENT_MS,
      );
      if (isNew) hasLost = false;
    }
    if (hasLost) found.push(directory === "" ? "." : directory);
  }
  return found;
}

function statEntry(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function readEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
