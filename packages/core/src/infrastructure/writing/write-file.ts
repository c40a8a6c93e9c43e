import { accessSync, type BigIntStats, constants, lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HeldDirectory } from "../reading/held-directory.ts";
import { hasExtendedAttributes } from "./extended-attributes.ts";
import { createFile, type FilePlace, replaceByRename } from "./replace-file.ts";
import { rewriteInPlace } from "./rewrite-in-place.ts";

/** The file is no longer what it was when the caller looked at it; nothing was written. */
export class FileChangedError extends Error {
  override name = "FileChangedError";
}

/**
 * Writes a file whole or not at all. `path` must be real (no link in it); `before` is what the caller saw there, undefined
 * for a file that must not exist yet. Returns what is there afterwards. Throws system errors, `FileChangedError` and
 * `MovedPathError`, with the old content in place and nothing left beside it.
 *
 * A plain file is replaced by a new one with its mode, owner and group. A file that has other names (hard links) or
 * extended attributes, and one whose directory or owner do not allow a replacement, is rewritten in place instead, with
 * a copy beside it for as long as that takes. New files get 0666 less the umask. Whatever another process does to the
 * directories of the path meanwhile, nothing is written outside of the one that was at `path` in the beginning.
 */
export function writeWholeFile(
  path: string,
  content: Uint8Array,
  before: BigIntStats | undefined,
): BigIntStats {
  using directory = HeldDirectory.open(dirname(path));
  const place: FilePlace = { directory, name: basename(path) };
  if (before === undefined) {
    createFile(place, content, () => new FileChangedError(`${path} has come into being in the meantime.`));
  } else {
    overwriteFile(place, content, before);
  }
  return lstatSync(directory.at(place.name), { bigint: true });
}

function overwriteFile(place: FilePlace, content: Uint8Array, before: BigIntStats): void {
  const { directory, name } = place;
  const path = directory.at(name);
  const assertUnchanged = () => {
    if (isUnchanged(path, before)) return;
    throw new FileChangedError(`${join(directory.realPath, name)} has changed in the meantime.`);
  };
  assertUnchanged();
  // Replacing asks only for a writable directory: without this a file its owner made read-only would be overwritten.
  accessSync(path, constants.W_OK);
  const mayReplace = before.nlink === 1n && !hasExtendedAttributes(path);
  if (!mayReplace || !replaceByRename(place, content, { before, assertUnchanged })) {
    rewriteInPlace(place, content, before);
  }
}

function isUnchanged(path: string, before: BigIntStats): boolean {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return (
    now?.ino === before.ino &&
    now.dev === before.dev &&
    now.size === before.size &&
    now.mtimeNs === before.mtimeNs
  );
}
