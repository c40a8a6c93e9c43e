import { chmodSync, cpSync, lstatSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ForeignDirectoryError, makeListable } from "../../infrastructure/fs/directory.ts";
import { HeldDirectory, isInside } from "../../infrastructure/fs/real-path.ts";
import { findStats, toSystemPath } from "../../infrastructure/fs/stat.ts";
import { generateEntryId, generateSessionId, platformName } from "../../infrastructure/runtime.ts";
import { systemErrorCode, systemErrorText } from "../../infrastructure/system-error.ts";
import { readSystemEntries } from "./directory.ts";
import { isBelowAny, type ProtectedFile, type UnlistableDirectory } from "./types.ts";

const OWNER_MAY_ALL = 0o700;
const MODE_BITS = 0o7777;

// What is more stays beside where it was: nobody waits for gigabytes, or has a disk filled with them.
const MAX_COPIED_BYTES = 64 * 1024 * 1024;
const MAX_COPIED_ENTRIES = 10_000;

/** What may still be copied to another disk, where something cannot be moved there. */
class CopyAllowance {
  private bytes = MAX_COPIED_BYTES;
  private entries = MAX_COPIED_ENTRIES;

  /** False where a file or directory is more than that. */
  take(path: string): boolean {
    const stats = lstatSync(toSystemPath(path));
    this.entries -= 1;
    this.bytes -= stats.size;
    if (this.entries < 0 || this.bytes < 0) return false;
    return !stats.isDirectory() || readSystemEntries(path).every(({ name }) => this.take(`${path}/${name}`));
  }
}

/**
 * Moves an unapproved file or directory out of a project to `target`, unchanged, including links.
 * @param allowance for all that is moved in one go.
 * @returns where it is now, for people: beside where it was, under a name that means nothing, where it cannot be
 * brought
 * further, or in both places; undefined when it is gone already.
 * @throws Error that says why it could not be moved; it is where it was then.
 */
export function moveAway(
  path: string,
  target: string,
  allowance: CopyAllowance = new CopyAllowance(),
): string | undefined {
  const meaningless = `moved-by-diligent-${generateEntryId()}`;
  try {
    // Whatever else runs may put a link in the place of a directory above it.
    using parent = HeldDirectory.open(directoryOf(path));
    // First out of the way, which takes no time, then elsewhere, which may take some or be impossible.
    using _ = renameIn(parent, nameOf(path), meaningless);
    return bring(parent, { path: `${directoryOf(path)}/${meaningless}`, target, allowance });
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw new Error(`${path} could not be moved away: ${systemErrorText(error)}`);
  }
}

/** Makes a link again that was there before. @throws system errors, EEXIST where something is in its place. */
function restoreLink(path: string, target: string): void {
  using parent = HeldDirectory.open(directoryOf(path));
  symlinkSync(toSystemPath(target), toSystemPath(parent.at(nameOf(path))));
}

/** As `basename`; see `directoryOf`. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** As `dirname`, which loses the bytes of a name that is no text. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** @returns what gives the directory its mode back, if it had to be another. */
function renameIn(parent: HeldDirectory, from: string, to: string): Disposable {
  const rename = () => renameSync(toSystemPath(parent.at(from)), parent.at(to));
  try {
    rename();
    return { [Symbol.dispose]: () => {} };
  } catch (error) {
    if (systemErrorCode(error) !== "EACCES") throw error;
  }
  // Whoever made the file may have made its directory read-only, and so may the user have before.
  const place = parent.pathForChildren;
  const mode = statSync(place).mode & MODE_BITS;
  chmodSync(place, mode | OWNER_MAY_ALL);
  const restore = { [Symbol.dispose]: () => chmodSync(place, mode) };
  try {
    rename();
    return restore;
  } catch (error) {
    restore[Symbol.dispose]();
    throw error;
  }
}

interface Move {
  path: string;
  target: string;
  allowance: CopyAllowance;
}

/** @returns where it is now: at `target`, where it was if it could not be brought there, or in both places. */
function bring(parent: HeldDirectory, { path, target, allowance }: Move): string {
  const name = nameOf(path);
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    // What was moved there before stays.
    if (findStats(target) !== undefined) return path;
    makeMovable(parent, name);
    const isWhole = moveOver(parent.at(name), target, allowance);
    return isWhole ? target : `${target}; what could not be removed of it is still in ${path}`;
  } catch {
    // Another disk and too little space on it, too much, or a pipe: what counts is that it is out of the way.
    tryToRemove(target);
    return path;
  }
}

/** False where it was copied and could not be removed. */
function moveOver(from: string, target: string, allowance: CopyAllowance): boolean {
  try {
    renameSync(from, target);
  } catch (error) {
    if (systemErrorCode(error) !== "EXDEV" || !allowance.take(from)) throw error;
    cpSync(from, target, { recursive: true, dereference: false, verbatimSymlinks: true });
    return tryToRemove(from);
  }
  return true;
}

function tryToRemove(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false; // A directory in it may not be written to.
  }
}

/** A directory that may not be written to cannot be moved into another one. */
function makeMovable(parent: HeldDirectory, name: string): void {
  try {
    using child = parent.openChild(name);
    chmodSync(child.pathForChildren, 0o700);
  } catch {
    // No directory: the mode of a file makes no difference.
  }
}

export interface ProtectedFileRemediesOptions {
  /** Where commands may write, the project first. */
  roots: readonly string[];
  /** Where what appears is moved to. */
  quarantine: string;
  /** What is known of something that appeared, for the user: a sentence without its end. */
  describeAppeared(name: string): string;
  /** Tells the user, in a sentence. */
  notify?: ((message: string) => void) | undefined;
}

interface RemedyMove {
  /** Where it was. */
  path: string;
  hasFailed: boolean;
  /** For the user and for the model. */
  told: string;
  note: string;
}

// Whoever makes more of them in one go gets no longer list for it.
const MAX_NAMED = 5;

/** Handles protected files that were created or changed without approval, and reports it. */
export class ProtectedFileRemedies {
  /** Where things were that were moved away so far; absolute. */
  readonly movedPaths: string[] = [];

  constructor(private readonly options: ProtectedFileRemediesOptions) {}

  /**
   * Moves these away, all of one call into one directory. The user is told, of the first few by name.
   * @returns lines for the model; none for what is gone already.
   */
  moveAway(paths: readonly string[]): string[] {
    const directory = join(this.options.quarantine, generateSessionId());
    const allowance = new CopyAllowance();
    const all = new Set(paths);
    const outermost = paths.filter((path) => !isBelowAny(path, all));
    const moves = outermost.flatMap((path) => this.move(path, directory, allowance));
    for (const { path, hasFailed } of moves) if (!hasFailed) this.movedPaths.push(path);
    const named = moves.slice(0, MAX_NAMED);
    for (const { told } of named) this.options.notify?.(told);
    return [...named.map(({ note }) => note), ...this.notifyOthers(moves.slice(MAX_NAMED), directory)];
  }

  private move(path: string, directory: string, allowance: CopyAllowance): RemedyMove[] {
    const name = this.nameOf(path);
    const appeared = this.options.describeAppeared(name);
    try {
      // A link from the project with such a name may have been moved there, and is not to lead out again.
      const top = name.startsWith("/") ? `${directory}-elsewhere` : directory;
      const target = moveAway(path, join(top, name), allowance);
      if (target === undefined) return [];
      return [
        {
          path,
          hasFailed: false,
          told: `${appeared}. It was moved to ${target}`,
          note: `${name} was moved to ${target}: commands in the sandbox may not create files that control other programs. If it belongs in the project, create it with the write tool or outside the sandbox; both ask the user`,
        },
      ];
    } catch (error) {
      const problem = `${appeared}, and could not be moved away: ${error instanceof Error ? error.message : error}`;
      return [{ path, hasFailed: true, told: problem, note: problem }];
    }
  }

  private notifyOthers(moves: readonly RemedyMove[], directory: string): string[] {
    if (moves.length === 0) return [];
    const failed = moves.filter(({ hasFailed }) => hasFailed).length;
    const more = `${moves.length} more files and directories of this kind were created, and moved to ${directory} or renamed`;
    const line = failed === 0 ? more : `${more}, except ${failed}, which are still there`;
    this.options.notify?.(line);
    return [line];
  }

  /** What certainly no command has made. The user is told. @returns lines for the model. */
  notifyLeft(files: readonly ProtectedFile[]): string[] {
    if (files.length === 0) return [];
    const names = files.slice(0, MAX_NAMED).map(({ path }) => this.nameOf(path));
    const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
    const line = `${names.join(", ")}${more} appeared while a command ran. No command created it, so it was left in place`;
    this.options.notify?.(line);
    return [line];
  }

  /** What nobody can find any more. The user is told. @returns lines for the model. */
  notifyLost(files: readonly ProtectedFile[]): string[] {
    if (files.length === 0) return [];
    const names = files.slice(0, MAX_NAMED).map(({ path }) => this.nameOf(path));
    const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
    const line = `${names.join(", ")}${more} cannot be found any more, and may be in a directory that is not scanned, such as node_modules: it is not protected there`;
    this.options.notify?.(line);
    return [line];
  }

  /** What somebody outside has replaced. The user is told. @returns lines for the model. */
  notifyReplaced(files: readonly ProtectedFile[]): string[] {
    if (files.length === 0) return [];
    const all = files.map(({ path }) => this.nameOf(path)).sort();
    const names = all.slice(0, MAX_NAMED);
    const more = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : "";
    const were = files.length === 1 ? "was" : "were";
    const line = `${names.join(", ")}${more} ${were} replaced from outside while the command ran`;
    this.options.notify?.(line);
    return [line];
  }

  /** The user is told. @returns the same for the model. */
  notifyOverfull(): string {
    const line =
      "there are now too many directories to scan, so it is unknown what commands created in them: no command runs in the sandbox until there are fewer";
    this.options.notify?.(line);
    return line;
  }

  /** Puts a link back. @returns a line for the model; undefined where that was not possible. */
  putBack({ path, target }: ProtectedFile): string | undefined {
    if (target === undefined) return undefined;
    try {
      restoreLink(path, target);
      return `the link ${this.nameOf(path)} was restored: commands in the sandbox may not change it`;
    } catch {
      return undefined; // Its directory is gone, or something is there that could not be moved away, which was said.
    }
  }

  /** As a person knows it: from the project where it lies in that. */
  nameOf(path: string): string {
    const [project] = this.options.roots;
    return project !== undefined && path !== project && isInside(path, project)
      ? relative(project, path)
      : path;
  }
}

// The file system is read-only or knows no permissions.
const FOR_GOOD: ReadonlySet<string> = new Set(["EPERM", "EROFS", "ENOTSUP", "EOPNOTSUPP"]);

/** Makes directories that commands made unlistable listable again for the duration of one scan. */
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
          `${directories} could not be listed any more: the owner's rights to list, search and write were restored, since commands in the sandbox may not hide files that they create`,
      ),
      ...stuck.map((directories) => `${directories} cannot be listed: read-only in the sandbox from now on`),
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
