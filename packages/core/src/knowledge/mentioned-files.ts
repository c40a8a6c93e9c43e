import { isAbsolute, relative } from "node:path";
import { hashProjectFile, locateProjectFile } from "./project-file.ts";
import type { KnowledgeFile } from "./types.ts";

const MAX_FILES = 5;

// A text of 2,000 characters has a few hundred words; each that could be a path is looked for on the disk.
const MAX_CANDIDATES = 100;

/**
 * The files of the project that a text names, with what they are now: at most five, by their path from the project
 * root. `src/a.ts:12` and `"./src/a.ts",` name `src/a.ts`. `root` is real.
 */
export function findMentionedFiles(content: string, root: string): KnowledgeFile[] {
  const found = new Map<string, KnowledgeFile>();
  for (const path of [...listCandidates(content, root)].slice(0, MAX_CANDIDATES)) {
    const file = locateProjectFile(path, root);
    if (typeof file === "string") continue;
    const hash = hashProjectFile(file);
    // Two names of one file say the same.
    if (hash !== undefined && !found.has(file.realPath)) found.set(file.realPath, { path, hash });
    if (found.size === MAX_FILES) break;
  }
  return [...found.values()];
}

function listCandidates(content: string, root: string): Set<string> {
  const words = content.split(/[\s"'`()[\]{}<>,;|*]+/);
  return new Set(words.flatMap((word) => toPath(word, root) ?? []));
}

/** A word that could be a path: it has a slash or a dot in it, and what does not belong to it is taken off. */
function toPath(word: string, root: string): string | undefined {
  const bare = word
    .replace(/[.!?:]+$/, "")
    .replace(/(?::\d+){1,2}(?:-\d+)?$/, "")
    .replace(/^(?:\.\/)+/, "");
  if (!/[./]/.test(bare)) return undefined;
  const path = isAbsolute(bare) ? relative(root, bare) : bare;
  return path === "" || path.startsWith("..") ? undefined : path;
}
