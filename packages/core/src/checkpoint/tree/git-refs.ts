import { readSmallText } from "../../infrastructure/fs/read.ts";

// A file of packed refs that is larger is not read.
const MAX_BYTES = 16 * 1024 * 1024;

const OBJECT_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** The directory of a repository, and where in it a path is. A reflog is called like its ref. */
const IN_REPOSITORY = /^(.*?)\/(HEAD|packed-refs|refs\/.+|objects\/.+)$/;

/** Where `HEAD`, a ref or an object is. */
export interface GitPath {
  /** The directory of its repository. */
  gitDirectory: string;
  /** From there. */
  name: string;
}

/** Undefined for every other path, such as that of a reflog. @param path as that of a change. */
export function toGitPath(path: string): GitPath | undefined {
  const [, gitDirectory, name] = IN_REPOSITORY.exec(path) ?? [];
  if (gitDirectory === undefined || name === undefined || /(?:^|\/)logs$/.test(gitDirectory))
    return undefined;
  const isRepository = path.startsWith("/") || gitDirectory.split("/").some((part) => part.endsWith(".git"));
  return isRepository ? { gitDirectory, name } : undefined;
}

/** The hash that is the text of a ref; undefined for a symbolic one. */
export function parseRef(text: string): string | undefined {
  const hash = text.trim();
  return OBJECT_ID.test(hash) ? hash : undefined;
}

/** The refs in the text of `packed-refs`, by their names. */
export function parsePackedRefs(text: string): Map<string, string> {
  const lines = text.matchAll(/^([0-9a-f]{40}(?:[0-9a-f]{24})?) (\S+)$/gm);
  return new Map([...lines].map(([, hash = "", name = ""]) => [name, hash]));
}

/** @param directory that of the repository, absolute. */
export function readPackedRefs(directory: string): Map<string, string> {
  return parsePackedRefs(readSmallText(`${directory}/packed-refs`, MAX_BYTES) ?? "");
}

/** The text of a ref's own file; undefined without one, or for an empty one. */
export function readRefFile(directory: string, name: string): string | undefined {
  return readSmallText(`${directory}/${name}`, MAX_BYTES)?.trim() || undefined;
}
