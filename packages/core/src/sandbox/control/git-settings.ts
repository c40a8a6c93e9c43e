import { dirname } from "node:path";
import { findRealPath } from "../../infrastructure/reading/real-path.ts";
import { readSmallText } from "../../infrastructure/reading/small-text.ts";

/** One setting of git that names a path: hooks, a tree, further settings. */
export interface GitSetting {
  /** Without the section, in lower case. */
  key: string;
  value: string;
  /** It stands in this one. */
  file: string;
  /** That file and those by which it is included. */
  files: readonly string[];
}

const MAX_BYTES = 256 * 1024;
const MAX_INCLUDES_DEEP = 4;

/** Their keys, whatever the section. */
const NAMING: ReadonlySet<string> = new Set(["hookspath", "path", "worktree"]);

// Twice as long as a path can be: in quotes any character may take two.
const MAX_VALUE = 8_192;

/** `[section "x"]` at the beginning of a line, and what a setting without it begins with. */
const SECTION = /^\[(?:[^\]"\\]|"(?:[^"\\]|\\.)*")*\]/s;
const KEY = /^[a-z][\w-]*/i;

/**
 * What a file of settings and those that it includes name, whatever the conditions; see git-config(1). Nothing for a file
 * that is not there. What cannot be read as a setting is passed over, and so is what is named from `~`.
 * @param limit after so many the rest is left out: commands can make files of nothing else.
 */
export function readNamingSettings(file: string, limit: number): GitSetting[] {
  const settings: GitSetting[] = [];
  readInto(settings, file, { around: [], limit, read: new Map() });
  return settings;
}

type NamedPath = Pick<GitSetting, "key" | "value">;

interface Inclusion {
  /** The files by which this one is included. */
  around: readonly string[];
  limit: number;
  /** What is in the files that were read; undefined for one that is being included. */
  read: Map<string, readonly NamedPath[] | undefined>;
}

/**
 * A file that is included in several ways is there once for each: any of these may be a command's, and what it names would
 * seem to be so too.
 */
function readInto(settings: GitSetting[], file: string, { around, limit, read }: Inclusion): void {
  if (around.length > MAX_INCLUDES_DEEP || settings.length >= limit) return;
  const real = findRealPath(file, "/") ?? file;
  // Files may include themselves, in every line.
  if (read.has(real) && read.get(real) === undefined) return;
  const named = read.get(real) ?? readFile(real, limit);
  read.set(real, undefined);
  const files = [...around, file];
  const own = named.slice(0, limit - settings.length);
  for (const setting of own) settings.push({ ...setting, file, files });
  for (const { key, value } of own)
    if (key === "path")
      readInto(settings, joinAsWritten(dirname(file), value), { around: files, limit, read });
  read.set(real, named);
}

function readFile(path: string, limit: number): NamedPath[] {
  const named: NamedPath[] = [];
  for (const line of (readSmallText(path, MAX_BYTES) ?? "").replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const setting = readLine(line);
    if (setting !== undefined) named.push(setting);
    if (named.length >= limit) break;
  }
  return named;
}

/** Where a path leads that is written in a file. `..` is left in it: behind a link it is not the directory before. */
export function joinAsWritten(directory: string, path: string): string {
  return path.startsWith("/") ? path : `${directory}/${path}`;
}

/** In pieces: what commands make may be one line of nothing but blanks, which takes one pattern for all of it minutes. */
function readLine(line: string): NamedPath | undefined {
  const start = line.trimStart();
  const setting = start.slice(SECTION.exec(start)?.[0].length ?? 0).trimStart();
  const written = KEY.exec(setting)?.[0] ?? "";
  const [key, rest] = [written.toLowerCase(), setting.slice(written.length).trimStart()];
  if (!NAMING.has(key) || !rest.startsWith("=")) return undefined;
  const value = readValue(rest.slice(1, MAX_VALUE));
  return value.startsWith("~") ? undefined : { key, value };
}

/** Without quotes, escapes and what is remarked behind it. */
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
