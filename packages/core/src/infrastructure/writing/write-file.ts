import { accessSync, type BigIntStats, constants, lstatSync } from "node:fs";
import { hasExtendedAttributes } from "./extended-attributes.ts";
import { createFile, replaceByRename } from "./replace-file.ts";
import { rewriteInPlace } from "./rewrite-in-place.ts";

/** The file is no longer what it was when the caller looked at it; nothing was written. */
export class FileChangedError extends Error {
  override name = "FileChangedError";
}

/**
 * Writes a file whole or not at all. `path` must be real (no link in it); `before` is what the caller saw there, undefined
 * for a file that must not exist yet. Returns what is there afterwards. Throws system errors and `FileChangedError`,
 * with the old content in place and nothing left beside it.
 *
 * A plain file is replaced by a new one with its mode, owner and group. A file that has other names (hard links) or
 * extended attributes, and one whose directory or owner do not allow a replacement, is rewritten in place instead, with
 * a copy beside it for as long as that takes. New files get 0666 less the umask.
 */
export function writeWholeFile(
  path: string,
  content: Uint8Array,
  before: BigIntStats | undefined,
): BigIntStats {
  if (before === undefined) {
    createFile(path, content, () => new FileChangedError(`${path} has come into being in the meantime.`));
  } else {
    const assertUnchanged = () => {
      if (!isUnchanged(path, before)) throw new FileChangedError(`${path} has changed in the meantime.`);
    };
    assertUnchanged();
    // Replacing asks only for a writable directory: without this a file its owner made read-only would be overwritten.
    accessSync(path, constants.W_OK);
    const mayReplace = before.nlink === 1n && !hasExtendedAttributes(path);
    if (!mayReplace || !replaceByRename({ path, content, before, assertUnchanged })) {
      rewriteInPlace(path, content, before);
    }
  }
  return lstatSync(path, { bigint: true });
}

function isUnchanged(path: string, before: BigIntStats): boolean {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return now?.ino === before.ino && now.size === before.size && now.mtimeNs === before.mtimeNs;
}
