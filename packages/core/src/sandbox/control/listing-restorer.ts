import { platformName } from "../../infrastructure/environment.ts";
import { ForeignDirectoryError, makeListable } from "../../infrastructure/reading/listing-rights.ts";
import { systemErrorCode } from "../../infrastructure/system-error.ts";
import type { UnlistableDirectory } from "./control-look.ts";

// Whoever makes more of them gets no longer line for it.
const MAX_NAMED = 5;

// The file system is read-only or knows no permissions.
const FOR_GOOD: ReadonlySet<string> = new Set(["EPERM", "EROFS", "ENOTSUP", "EOPNOTSUPP"]);

/** Makes directories listable again that commands took that from, as long as one look lasts. */
export class ListingRestorer {
  private readonly opened: { path: string; mode: string }[] = [];
  private readonly stuck: UnlistableDirectory[] = [];

  /** @param isLeft for the directories that are to stay as they are. */
  constructor(private readonly isLeft: (directory: UnlistableDirectory) => boolean) {}

  readonly reveal = (directory: UnlistableDirectory): boolean => {
    if (this.isLeft(directory)) return false;
    try {
      const { path, identity } = directory;
      this.opened.push({ path, mode: makeListable(path, identity) });
      return true;
    } catch (error) {
      // What is swapped while it is looked at is met again with a later look.
      if (isForGood(error)) this.stuck.push(directory);
      return false;
    }
  };

  /** True where nothing can be done about it: nothing may be written in it from now on. */
  isStuck({ identity }: UnlistableDirectory): boolean {
    return this.stuck.some((directory) => directory.identity === identity);
  }

  /** A line for each of both ends, for the model. @param nameOf what a path is called. */
  describe(nameOf: (path: string) => string): string[] {
    const opened = listFirst(this.opened.map(({ path, mode }) => `${nameOf(path)} (now ${mode})`));
    const stuck = listFirst(this.stuck.map(({ path }) => nameOf(path)));
    return [
      ...opened.map(
        (directories) =>
          `what lies in ${directories} could not be listed any more: the owner's rights to list, search and write were given back, since commands in the sandbox may not hide what they make`,
      ),
      ...stuck.map(
        (directories) =>
          `what lies in ${directories} cannot be listed: it is read-only in the sandbox from now on`,
      ),
    ];
  }
}

function isForGood(error: unknown): boolean {
  const code = systemErrorCode(error) ?? "";
  // Only on Linux can a directory be held open without the right to list it. There a directory above it has lost its own.
  const isUnreachable = code === "EACCES" && platformName() !== "linux";
  return error instanceof ForeignDirectoryError || FOR_GOOD.has(code) || isUnreachable;
}

/** As one text, or none. */
function listFirst(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return [names.slice(0, MAX_NAMED).join(", ") + more];
}
