import { join } from "node:path";
import {
  type DirectoryEntry,
  fileSize,
  linkTarget,
  readDirectory,
} from "../../infrastructure/fs/directory.ts";
import { HeldDirectory } from "../../infrastructure/fs/real-path.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import { formatBytes } from "../target.ts";
import type { Workspace } from "../workspace.ts";
import { displaySearchPath, type SearchTarget, WITHHELD_NOTE } from "./search-scope.ts";

const MAX_ENTRIES = 500;

/** The entries of a directory, for the model. @throws Error if the path is not a directory or may not be listed. */
export function listDirectory(
  workspace: Workspace,
  { path, realPath, isDirectory }: SearchTarget,
  { isWithheld = () => false }: Pick<ToolContext, "isWithheld">,
): ToolResult {
  if (!isDirectory) throw new Error(`${path} is a file, not a directory. Use read to see what is in it.`);
  using place = HeldDirectory.open(realPath);
  const all = readEntries(place);
  const entries = all.filter(({ name }) => !isWithheld(join(realPath, name)));
  const notes = entries.length < all.length ? [WITHHELD_NOTE] : [];
  return describeDirectory(displaySearchPath(workspace, path), { place, entries, notes });
}

interface Listing {
  place: HeldDirectory;
  entries: readonly DirectoryEntry[];
  notes: readonly string[];
}

function describeDirectory(shownPath: string, { place, entries, notes }: Listing): ToolResult {
  const lines = sortEntries(entries)
    .slice(0, MAX_ENTRIES)
    .map((entry) => describeEntry(place.at("."), entry));
  if (entries.length === 0 && notes.length === 0) lines.push(`${shownPath} is empty.`);
  if (entries.length > MAX_ENTRIES)
    lines.push(`[${entries.length - MAX_ENTRIES} more entries are not shown]`);
  return { output: [...lines, ...notes].join("\n"), metadata: { count: entries.length } };
}

function readEntries(place: HeldDirectory): DirectoryEntry[] {
  try {
    return readDirectory(place.at("."));
  } catch (error) {
    throw new Error(`${place.realPath} cannot be listed: ${systemErrorText(error)}.`);
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
