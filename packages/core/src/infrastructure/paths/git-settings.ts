import { dirname } from "node:path";
import { readSmallText } from "../fs/read.ts";
import { findRealPath } from "../fs/real-path.ts";

/** One setting of git that names a path: hooks, a working tree, further settings. */
interface GitPathSetting {
  /** Without the section, in lower case. */
  key: string;
  value: string;
  /** The file that it is in. */
  file: string;
  /** That file and those by which it is included. */
  files: readonly string[];
}

type KeyAndValue = Pick<GitPathSetting, "key" | "value">;

const MAX_BYTES = 256 * 1024;
const MAX_INCLUDES_DEEP = 4;

/** The keys that count, whatever the section. */
const KEYS: ReadonlySet<string> = new Set(["hookspath", "path", "worktree"]);

// Twice as long as a path can be: in quotes any character may take two.
const MAX_VALUE = 8_192;

/** `[section "x"]` at the beginning of a line, and what a setting without it begins with. */
const SECTION = /^\[(?:[^\]"\\]|"(?:[^"\\]|\\.)*")*\]/s;
const KEY = /^[a-z][\w-]*/i;

/**
 * The settings in a file of git's, and in those that it includes, that name paths, whatever their conditions; see
 * git-config(1). None for a file that is not there. Lines that are not settings are skipped, and so are paths from `~`.
 * @param limit after so many the rest is left out: a file may be made of nothing else.
 */
export function readGitPathSettings(file: string, limit: number): GitPathSetting[] {
  const settings: GitPathSetting[] = [];
  const contents = new Map<string, KeyAndValue[] | "being included">();
  // A file that is included in several ways counts once for each: any of them may be removed.
  const include = (path: string, around: readonly string[]): void => {
    if (around.length > MAX_INCLUDES_DEEP || settings.length >= limit) return;
    const real = findRealPath(path, "/") ?? path;
    const content = contents.get(real) ?? readFile(real, limit);
    // Files may include themselves, in every line.
    if (content === "being included") return;
    contents.set(real, "being included");
    const files = [...around, path];
    const own = content.slice(0, limit - settings.length);
    for (const setting of own) settings.push({ ...setting, file: path, files });
    for (const { key, value } of own) if (key === "path") include(joinAsWritten(dirname(path), value), files);
    contents.set(real, content);
  };
  include(file, []);
  return settings;
}

/** Where a path leads that is written in a file. `..` stays: behind a link it is not the directory before it. */
function joinAsWritten(directory: string, path: string): string {
  return path.startsWith("/") ? path : `${directory}/${path}`;
}

function readFile(path: string, limit: number): KeyAndValue[] {
  const settings: KeyAndValue[] = [];
  for (const line of (readSmallText(path, MAX_BYTES) ?? "").replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const setting = readLine(line);
    if (setting !== undefined) settings.push(setting);
    if (settings.length >= limit) break;
  }
  return settings;
}

/** In pieces: a line may be nothing but blanks, which takes one pattern for all of it minutes. */
function readLine(line: string): KeyAndValue | undefined {
  const start = line.trimStart();
  const setting = start.slice(SECTION.exec(start)?.[0].length ?? 0).trimStart();
  const written = KEY.exec(setting)?.[0] ?? "";
  const [key, rest] = [written.toLowerCase(), setting.slice(written.length).trimStart()];
  if (!KEYS.has(key) || !rest.startsWith("=")) return undefined;
  const value = readValue(rest.slice(1, MAX_VALUE));
  return value.startsWith("~") ? undefined : { key, value };
}

/** Without quotes, escapes and the comment behind it. */
function readValue(written: string): string {
  let value = "";
  let isQuoted = false;
  for (const [part] of written.matchAll(/\\.|[\s\S]/g)) {
    if (part === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (part === "#" || part === ";")) break;
    else value += part.length > 1 ? part.slice(1) : part;
  }
  return value.trim();
}

/** A path that settings or the file of a worktree name, and the files because of which they do. */
interface NamedPath {
  path: string;
  files: readonly string[];
}

// Of one git directory; people have one or two.
const MAX_NAMED = 50;

/**
 * What the settings of a git directory name: further settings, and hooks as each of its working trees sees them.
 * @param worktrees the git directories of its worktrees.
 * @returns false for `isComplete` where it names more than anybody needs.
 */
export function findNamedPaths(gitDirectory: string, worktrees: readonly string[]) {
  const settings = ["config", "config.worktree"].flatMap((name) =>
    readGitPathSettings(`${gitDirectory}/${name}`, MAX_NAMED),
  );
  const findAll = (key: string, findStarts: (file: string) => readonly NamedPath[]): NamedPath[] =>
    settings
      .filter((setting) => setting.key === key)
      .flatMap(({ value, file, files }) =>
        findStarts(file).map((from) => ({
          path: joinAsWritten(from.path, value),
          files: [...files, ...from.files],
        })),
      );
  const at = (path: string): NamedPath[] => [{ path, files: [] }];
  const trees = [
    ...at(dirname(gitDirectory)),
    ...at(gitDirectory),
    ...findAll("worktree", () => at(gitDirectory)),
    ...[gitDirectory, ...worktrees].flatMap(findTree),
  ];
  const named = [...findAll("path", (file) => at(dirname(file))), ...findAll("hookspath", () => trees)];
  return { named, isComplete: settings.length < MAX_NAMED };
}

/** The working tree of a linked git directory, which names it in a file. */
function findTree(gitDirectory: string): NamedPath[] {
  const file = `${gitDirectory}/gitdir`;
  const [back] = /^.+$/m.exec(readSmallText(file, MAX_BYTES) ?? "") ?? [];
  return back === undefined
    ? []
    : [{ path: dirname(joinAsWritten(gitDirectory, back.trimEnd())), files: [file] }];
}
