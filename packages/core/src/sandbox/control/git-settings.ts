import { dirname, resolve } from "node:path";
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
  readInto(settings, file, { around: [], limit, seen: new Set() });
  return settings;
}

interface Inclusion {
  /** The files by which this one is included. */
  around: readonly string[];
  limit: number;
  /** Files may include themselves, in every line. */
  seen: Set<string>;
}

function readInto(settings: GitSetting[], file: string, { around, limit, seen }: Inclusion): void {
  if (seen.has(file) || around.length > MAX_INCLUDES_DEEP) return;
  seen.add(file);
  const text = readSmallText(findRealPath(file, "/") ?? file, MAX_BYTES) ?? "";
  const files = [...around, file];
  const included: string[] = [];
  for (const line of text.replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const setting = readLine(line);
    if (setting === undefined) continue;
    if (settings.length >= limit) return;
    settings.push({ ...setting, file, files });
    if (setting.key === "path") included.push(resolve(dirname(file), setting.value));
  }
  for (const path of included) readInto(settings, path, { around: files, limit, seen });
}

/** In pieces: what commands make may be one line of nothing but blanks, which takes one pattern for all of it minutes. */
function readLine(line: string): Pick<GitSetting, "key" | "value"> | undefined {
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
