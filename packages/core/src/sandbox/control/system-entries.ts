import { readdirSync } from "node:fs";
import { fromNameBytes, toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { type DirectoryEntry, readDirectory } from "../../infrastructure/reading/directory-entries.ts";
import { findStats } from "../../infrastructure/reading/find-stats.ts";

/** What is in a directory, also what bears a name that is no text; see `fromNameBytes`. @throws system errors. */
export function readSystemEntries(path: string): DirectoryEntry[] {
  if (path.isWellFormed()) {
    const entries = readDirectory(path);
    if (!entries.some(({ name }) => name.includes("\ufffd"))) return entries;
  }
  // A name that is no text would lead nowhere as a string.
  return readdirSync(toSystemPath(path), { encoding: "buffer" }).map((bytes) => {
    const name = fromNameBytes(bytes);
    return { name, kind: kindOf(`${path}/${name}`) };
  });
}

function kindOf(path: string): DirectoryEntry["kind"] {
  const stats = findStats(toSystemPath(path));
  if (stats?.isDirectory()) return "directory";
  if (stats?.isSymbolicLink()) return "link";
  return stats?.isFile() ? "file" : "other";
}
