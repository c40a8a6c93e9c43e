import { hashProjectFile, locateProjectFile, MAX_HASHED_BYTES, type ProjectFile } from "./project-file.ts";
import type { KnowledgeEntry, KnowledgeFile } from "./types.ts";

// More than an ordinary section of the prompt speaks of; a file made to be slow costs no more than this.
const MAX_CHECKS = 200;
const MAX_HASHED_IN_ALL_BYTES = 32 * 1024 * 1024;

// Some file systems keep times to two seconds only.
const TIME_GRAIN_MS = 2_500;

/** The path of the first of an entry's files that has changed since, or is gone; undefined when none has. */
export type FindChangedFile = (entry: KnowledgeEntry) => string | undefined;

/**
 * Looks at the files that entries speak of, at most 200 in all and 32 MB of content; what lies beyond counts as
 * unchanged. Never outside the project, never at what holds keys. `root` is real.
 */
export function createStaleCheck(root: string): FindChangedFile {
  const hashes = new Map<string, string | undefined>();
  let checks = 0;
  let bytes = 0;
  const hashOf = (file: ProjectFile): string | undefined => {
    const known = hashes.get(file.realPath);
    if (known !== undefined || bytes + file.stats.size > MAX_HASHED_IN_ALL_BYTES) return known;
    bytes += file.stats.size;
    const hash = hashProjectFile(file);
    hashes.set(file.realPath, hash);
    return hash;
  };
  const hasChanged = ({ path, hash }: KnowledgeFile, since: number): boolean => {
    if (checks >= MAX_CHECKS) return false;
    checks++;
    const file = locateProjectFile(path, root);
    if (file === "off_limits") return false;
    if (file === "missing") return true;
    // Any change of the content would have set this time: most files need not be read.
    if (file.stats.ctimeMs + TIME_GRAIN_MS < since) return false;
    // Only smaller ones are recorded.
    if (file.stats.size > MAX_HASHED_BYTES) return true;
    const current = hashOf(file);
    return current !== undefined && current !== hash;
  };
  return ({ timestamp, files = [] }) => {
    const recordedAt = Date.parse(timestamp);
    return files.find((file) => hasChanged(file, recordedAt))?.path;
  };
}
