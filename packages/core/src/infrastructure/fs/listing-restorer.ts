import { platformName } from "../runtime.ts";
import { systemErrorCode } from "../system-error.ts";
import { ForeignDirectoryError, makeListable } from "./directory.ts";
import type { SeenFile } from "./seen-file.ts";

export type LocatedDirectory = Pick<SeenFile, "path" | "identity">;

// The file system is read-only or knows no permissions.
const FOR_GOOD: ReadonlySet<string> = new Set(["EPERM", "EROFS", "ENOTSUP", "EOPNOTSUPP"]);

/** Makes directories listable again, as their owner, and remembers which. */
export class ListingRestorer {
  /** With their modes as they are now, in octal digits. */
  readonly opened: { path: string; mode: string }[] = [];
  /** Those about which nothing can be done, by identity. */
  readonly stuck = new Map<string, LocatedDirectory>();

  /** @param isLeft for the directories that are to stay as they are. */
  constructor(private readonly isLeft: (directory: LocatedDirectory) => boolean) {}

  /** False where it is as it was. */
  readonly reveal = (directory: LocatedDirectory): boolean => {
    if (this.isLeft(directory)) return false;
    try {
      const { path, identity } = directory;
      this.opened.push({ path, mode: makeListable(path, identity) });
      return true;
    } catch (error) {
      // What is swapped in this moment is met again.
      if (isForGood(error)) this.stuck.set(directory.identity, directory);
      return false;
    }
  };
}

function isForGood(error: unknown): boolean {
  const code = systemErrorCode(error) ?? "";
  // Only on Linux can a directory be held open without the right to list it. There a directory above it has lost its own.
  const isUnreachable = code === "EACCES" && platformName() !== "linux";
  return error instanceof ForeignDirectoryError || FOR_GOOD.has(code) || isUnreachable;
}
