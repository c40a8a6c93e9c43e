import { isInside } from "../../infrastructure/fs/real-path.ts";
import {
  directoryOf,
  isBelowAny,
  lookAt,
  nameOf,
  namesIn,
  type SeenFile,
} from "../../infrastructure/fs/seen-file.ts";
import type { ProtectedAccess } from "../../infrastructure/process/shell-wrapper.ts";
import { foldName } from "../../infrastructure/text/unicode.ts";
import type { ProtectedFile, ProtectedFileScan, RepositorySigns } from "./types.ts";

/** The changes of protected files between two scans. */
export interface ProtectedFileChanges {
  /** What has made a directory a repository; nothing else in that is among the others. Absolute. */
  planted: readonly string[];
  /** Created, or replaced one that was moved with the directory it lay in. The outermost only. */
  appeared: readonly ProtectedFile[];
  /** Links that were removed or redirected. */
  lostLinks: readonly ProtectedFile[];
  /** In the place of one that no sandboxed command could have replaced: somebody outside has. */
  replaced: readonly ProtectedFile[];
}

/** What there was before: a scan to compare later ones with. */
export class EarlierScan {
  private readonly byIdentity: ReadonlyMap<string, ProtectedFile>;

  constructor(private readonly before: ProtectedFileScan) {
    this.byIdentity = new Map([...before.files.values()].map((file) => [file.identity, file]));
  }

  /** Whether what is there now is what was there then. */
  isUnchanged(now: SeenFile): boolean {
    return isSame(this.before.files.get(now.path), now) || this.hasMovedAlong(now);
  }

  wasRepository({ identity, path }: RepositorySigns): boolean {
    return this.before.signs.get(identity)?.isRepository === true || this.wasOutOfReach(path);
  }

  /**
   * Compares a scan that was made with this one as its baseline.
   * @param heldGitDirectories the git directories that were held in place for every command in between.
   */
  findChanges(after: ProtectedFileScan, heldGitDirectories: readonly string[]): ProtectedFileChanges {
    const { files, named, gitDirectories } = this.before;
    const changed = [...after.files.values()].filter(
      (file) => (file.isEstablished || named.has(file.path)) && !isSame(files.get(file.path), file),
    );
    // These cannot be moved or removed in the sandbox, unless with the directory they lie in.
    const isHeld = ({ path, parentIdentity }: ProtectedFile) => {
      const earlier = files.get(path);
      const isLoose = gitDirectories.includes(path) && !heldGitDirectories.includes(path);
      return earlier && earlier.kind !== "link" && !isLoose && earlier.parentIdentity === parentIdentity;
    };
    const isNew = (file: ProtectedFile) =>
      !isHeld(file) && !this.hasMovedAlong(file) && !this.wasOutOfReach(file.path);
    const appeared = changed.filter(isNew);
    const paths = new Set(appeared.map(({ path }) => path));
    return {
      planted: [...after.signs.values()].flatMap((signs) => this.findPlanted(signs)),
      appeared: appeared.filter(({ path }) => !isBelowAny(path, paths)),
      lostLinks: [...files.values()].filter(
        ({ path, kind, target }) => kind === "link" && after.files.get(path)?.target !== target,
      ),
      replaced: changed.filter(isHeld),
    };
  }

  private findPlanted(signs: RepositorySigns): string[] {
    if (!signs.isRepository || this.wasRepository(signs)) return [];
    const earlier = this.before.signs.get(signs.identity)?.names ?? [];
    const added = signs.names.filter((name) => !earlier.includes(name));
    // Without it there is no repository, and nobody keeps anything else in it.
    const heads = added.filter((name) => foldName(name) === "head");
    return (heads.length > 0 ? heads : added).map((name) => `${signs.path}/${name}`);
  }

  /**
   * True for a file that was there under another path, with the same directory around it, and is no nearer to the top,
   * where programs look first: somebody has renamed a directory.
   */
  private hasMovedAlong({ path, kind, identity, parentIdentity, target }: SeenFile): boolean {
    const earlier = this.byIdentity.get(identity);
    if (earlier === undefined || earlier.parentIdentity !== parentIdentity) return false;
    // A link can be removed, and its number be given to something else.
    if (earlier.kind !== kind || earlier.target !== target) return false;
    const depthOf = (one: string) => one.split("/").length;
    return nameOf(earlier.path) === nameOf(path) && depthOf(path) >= depthOf(earlier.path);
  }

  /** True for what lies in a directory that could not be listed: commands could not write in it either. */
  private wasOutOfReach(path: string): boolean {
    const closed = [...this.before.unlistable.values()].filter((directory) => isInside(path, directory.path));
    return closed.some((directory) => lookAt(directory.path)?.identity === directory.identity);
  }
}

function isSame(before: SeenFile | undefined, now: SeenFile): boolean {
  // The number of what was removed may have been given to something else.
  if (before?.kind !== now.kind) return false;
  return before.kind === "link" ? before.target === now.target : before.identity === now.identity;
}

/**
 * The unapproved parts of a new protected file or directory: the outermost paths. @param written approved files
 * that are unchanged since they were written; absolute.
 */
export function findUnconsented(path: string, written: readonly string[]): string[] {
  if (!written.some((file) => isInside(file, path))) return [path];
  if (lookAt(path)?.kind !== "directory") return written.includes(path) ? [] : [path];
  return namesIn(path)?.flatMap((name) => findUnconsented(`${path}/${name}`, written)) ?? [path];
}

/** Of something that appeared, the parts that a command may not write: itself if that is so of all its contents. */
export function findUnopened(path: string, access: ProtectedAccess): string[] {
  if (access.mayWrite(path)) return [];
  if (lookAt(path)?.kind !== "directory") return [path];
  const inner = (namesIn(path) ?? []).map((name) => ({
    path: `${path}/${name}`,
    closed: findUnopened(`${path}/${name}`, access),
  }));
  const isClosed = inner.every(({ path: one, closed }) => closed[0] === one);
  return isClosed ? [path] : inner.flatMap(({ closed }) => closed);
}

/**
 * Of git directories, those that are mounted over themselves in every command, so that no command can exchange them: what
 * lies right in a root.
 */
export function findHeldGitDirectories(directories: Iterable<string>, roots: readonly string[]): string[] {
  return [...directories].filter((path) => !roots.includes(path) && roots.includes(directoryOf(path)));
}
