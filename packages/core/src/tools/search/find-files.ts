import { join } from "node:path";
import {
  type DirectoryEntry,
  fileSize,
  linkTarget,
  modificationTime,
  readDirectory,
} from "../../infrastructure/fs/directory.ts";
import { HeldDirectory } from "../../infrastructure/fs/real-path.ts";
import { isExistingPath } from "../../infrastructure/fs/stat.ts";
import { type RipgrepEnd, runRipgrep } from "../../infrastructure/process/ripgrep.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import { missingFileError } from "../missing-file.ts";
import type { GlobArguments } from "../parameters.ts";
import { formatBytes } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { createGlobMatcher, type SearchTarget, splitGlobPattern } from "./search-gate.ts";
import {
  displayFound,
  displaySearchPath,
  MOVED_NOTE,
  openSearchLocation,
  type SearchLocation,
  searchSteadily,
  toRipgrepOptions,
  WITHHELD_NOTE,
} from "./search-scope.ts";

const MAX_SHOWN = 200;
// Reading the times of more files would take longer than finding them.
const MAX_SORTED_BY_TIME = 2_000;
// With more matches than this the pattern is too broad to be useful.
const MAX_COLLECTED = 50_000;

/** A call whose location was approved; files that `isWithheld` names are left out, and the result says so. */
interface GlobCall {
  args: GlobArguments;
  target: SearchTarget;
  context: Pick<ToolContext, "signal" | "isWithheld">;
}

/** The matching files below a directory, for the model. */
export async function findFiles(
  workspace: Workspace,
  { args, target, context }: GlobCall,
): Promise<ToolResult> {
  const { signal, isWithheld = () => false } = context;
  const isMatch = createGlobMatcher(splitGlobPattern(args.pattern));
  using location = openSearchLocation(target);
  let isPartlyWithheld = false;
  const matches = (file: string) => {
    if (!isMatch(file)) return false;
    const isShown = !isWithheld(join(target.realPath, file));
    isPartlyWithheld ||= !isShown;
    return isShown;
  };
  const { found, isSteady } = await searchSteadily(location, {
    run: () => collectFiles(workspace, { location, matches, signal }),
    filesOf: ({ files }) => files.slice(0, MAX_SHOWN),
  });
  const files = found.files.filter((file, index) => index >= MAX_SHOWN || isSteady(file));
  return toResult(args, files, {
    show: (file) => displayFound(workspace, target, file),
    stopped: found.stopped,
    notes: [
      ...(files.length < found.files.length ? [MOVED_NOTE] : []),
      ...(isPartlyWithheld ? [WITHHELD_NOTE] : []),
    ],
  });
}

/** For a pattern that names a missing directory. */
export function noFiles(args: GlobArguments): ToolResult {
  return toResult(args, [], { show: String, notes: [] });
}

/** Why `path` (absolute) cannot be searched; undefined if it is not the reason. */
export function noDirectoryError(
  workspace: Workspace,
  path: string,
  target: SearchTarget | undefined,
): Error | undefined {
  if (!isExistingPath(path)) return missingFileError(workspace, { path, realPath: path });
  return target?.path === path ? new Error(`${path} is a file, not a directory.`) : undefined;
}

interface FileSearch {
  location: SearchLocation;
  matches(path: string): boolean;
  signal: AbortSignal;
}

async function collectFiles(workspace: Workspace, { location, matches, signal }: FileSearch) {
  const files: string[] = [];
  const end = await runRipgrep({
    // A pattern passed to ripgrep would override .gitignore, so the names are matched here.
    ...toRipgrepOptions(workspace, { flags: ["--files", "--null"], location, signal }),
    separator: "\0",
    onRecord(record) {
      const file = record.replace(/^\.\//, "");
      if (matches(file)) files.push(file);
      return files.length <= MAX_COLLECTED;
    },
  });
  if (end.stopped === "abort") throw new Error("The search was interrupted.");
  if (end.errors !== "") throw new Error(end.errors);
  return { files: sortFiles(files, location), stopped: end.stopped };
}

/** Newest first if they are few enough, else by path: ripgrep's own order varies. */
function sortFiles(files: string[], location: SearchLocation): string[] {
  const byPath = files.sort();
  if (files.length > MAX_SORTED_BY_TIME) return byPath;
  const times = new Map(byPath.map((file) => [file, modificationTime(location.at(file))]));
  return byPath.sort((left, right) => (times.get(right) ?? 0) - (times.get(left) ?? 0));
}

interface FoundFiles {
  show(file: string): string;
  stopped?: RipgrepEnd["stopped"];
  /** Additional notes about the search. */
  notes: readonly string[];
}

function toResult(
  { pattern, path }: GlobArguments,
  files: string[],
  { show, stopped, notes: given }: FoundFiles,
): ToolResult {
  const notes = [...given];
  if (stopped === "timeout") notes.push("[the search was stopped after a minute; there may be more]");
  if (files.length === 0) {
    const location = path ? ` in ${path}` : "";
    return {
      output: [`No file matches ${pattern}${location}.`, ...notes].join("\n"),
      metadata: { count: 0 },
    };
  }
  const shown = files.slice(0, MAX_SHOWN).map(show);
  const hidden = files.length - shown.length;
  if (files.length > MAX_SORTED_BY_TIME) notes.push("[too many to sort by time: sorted by path]");
  if (hidden > 0) {
    const amount = stopped === "limit" ? `more than ${hidden - 1}` : `${hidden}`;
    notes.push(`[${amount} more files match and are not shown; narrow the pattern]`);
  }
  return { output: [...shown, ...notes].join("\n"), metadata: { count: files.length } };
}

const MAX_ENTRIES = 500;

/** The entries of a directory, for the model. @throws Error if the path is not a directory or may not be listed. */
export function listDirectory(
  workspace: Workspace,
  { path, realPath, isDirectory }: SearchTarget,
  { isWithheld = () => false }: Pick<ToolContext, "isWithheld">,
): ToolResult {
  if (!isDirectory) throw new Error(`${path} is a file, not a directory. Use read to see what is in it.`);
  using location = HeldDirectory.open(realPath);
  const all = readEntries(location);
  const entries = all.filter(({ name }) => !isWithheld(join(realPath, name)));
  const notes = entries.length < all.length ? [WITHHELD_NOTE] : [];
  return describeDirectory(displaySearchPath(workspace, path), { location, entries, notes });
}

interface Listing {
  location: HeldDirectory;
  entries: readonly DirectoryEntry[];
  notes: readonly string[];
}

function describeDirectory(shownPath: string, { location, entries, notes }: Listing): ToolResult {
  const lines = sortEntries(entries)
    .slice(0, MAX_ENTRIES)
    .map((entry) => describeEntry(location.at("."), entry));
  if (entries.length === 0 && notes.length === 0) lines.push(`${shownPath} is empty.`);
  if (entries.length > MAX_ENTRIES)
    lines.push(`[${entries.length - MAX_ENTRIES} more entries are not shown]`);
  return { output: [...lines, ...notes].join("\n"), metadata: { count: entries.length } };
}

function readEntries(location: HeldDirectory): DirectoryEntry[] {
  try {
    return readDirectory(location.at("."));
  } catch (error) {
    throw new Error(`${location.realPath} cannot be listed: ${systemErrorText(error)}.`);
  }
}

function sortEntries(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  const rank = ({ kind }: DirectoryEntry) => (kind === "directory" ? 0 : 1);
  return entries.toSorted((left, right) => rank(left) - rank(right) || (left.name < right.name ? -1 : 1));
}

function describeEntry(directory: string, { name, kind }: DirectoryEntry): string {
  // A line break in a name would make one entry look like two.
  const shown = /[\n\r]/.test(name) ? JSON.stringify(name) : name;
  if (kind === "directory") return `${shown}/`;
  if (kind === "link") return `${shown} -> ${linkTarget(directory, name) ?? "?"}`;
  if (kind === "other") return `${shown} (not a regular file)`;
  const size = fileSize(join(directory, name));
  return size === undefined ? shown : `${shown} (${formatBytes(size)})`;
}
