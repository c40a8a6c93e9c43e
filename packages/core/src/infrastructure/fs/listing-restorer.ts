import { platformName } from "../runtime.ts";
import { systemErrorCode } from "../system-error.ts";
import { ForeignDirectoryError, makeListable } from "./directory.ts";
import type { SeenFile } from "./seen-file.ts";

export type LocatedDirectory = Pick<SeenFile, "path" | "identity">;

// The file system is read-only or knows no permissions.
const FOR_GOOD: ReadonlySet<string> = new Set(["EPERM", "EROFS", "ENOTSUP", "EOPNOTSUPP"]);

/** Makes directories listable again, as their owner, and remembers which. */
export class ListingRestorer {
  /** With their current modes, in octal digits. */
  readonly opened: { path: string; mode: string }[] = [];
  /** Directories that cannot be made listable, by identity. */
  readonly stuck = new Map<string, LocatedDirectory>();

  /** @param isLeft for the directories that must not be changed. */
  constructor(private readonly isLeft: (directory: LocatedDirectory) => boolean) {}

  /** False if nothing was changed. */
  readonly reveal = (directory: LocatedDirectory): boolean => {
    if (this.isLeft(directory)) return false;
    try {
      const { path, identity } = directory;
      this.opened.push({ path, mode: makeListable(path, identity) });
      return true;
    } catch (error) {
      // A directory that is replaced at this moment is found again later.
      if (isForGood(error)) this.stuck.set(directory.identity, directory);
      return false;
    }
  };
}

function isForGood(error: unknown): boolean {
  const code = systemErrorCode(error) ?? "";
  // Only Linux can hold a directory open without the permission to list it. On other systems, a parent directory has
  // lost its own.
  const isUnreachable = code === "EACCES" && platformName() !== "linux";
  return error instanceof ForeignDirectoryError || FOR_GOOD.has(code) || isUnreachable;
}
