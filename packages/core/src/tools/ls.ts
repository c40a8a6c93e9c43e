import { join } from "node:path";
import { z } from "zod";
import {
  type DirectoryEntry,
  fileSize,
  linkTarget,
  readDirectory,
} from "../infrastructure/reading/directory-entries.ts";
import { HeldDirectory } from "../infrastructure/reading/held-directory.ts";
import { systemErrorText } from "../infrastructure/system-error.ts";
import type { Tool, ToolResult } from "../tool/types.ts";
import { createSearchGate, displayPath, WITHHELD_NOTE } from "./search/search-target.ts";
import { formatBytes } from "./target/format-bytes.ts";
import type { Workspace } from "./workspace.ts";

const MAX_ENTRIES = 500;

const parameters = z.strictObject({ path: z.string().optional() });

/** Lists one directory: directories first, links with their targets, files with their sizes. */
export function createLsTool(workspace: Workspace): Tool<typeof parameters> {
  const placeOf = ({ path }: z.output<typeof parameters>) => path || ".";
  const gate = createSearchGate(workspace, { toolName: "ls", placeOf, describe: placeOf });
  return {
    name: "ls",
    description: "Lists one directory, hidden entries included. To find files by name use glob.",
    parameters,
    readOnly: true,
    approval: gate.approval,
    async execute(args, { isWithheld = () => false }) {
      const { path, realPath, isDirectory } = gate.locate(args);
      if (!isDirectory) throw new Error(`${path} is a file, not a directory. Use read to see what is in it.`);
      using place = HeldDirectory.open(realPath);
      const all = readEntries(place);
      const entries = all.filter(({ name }) => !isWithheld(join(realPath, name)));
      const notes = entries.length < all.length ? [WITHHELD_NOTE] : [];
      return describeDirectory(displayPath(workspace, path), { place, entries, notes });
    },
  };
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
