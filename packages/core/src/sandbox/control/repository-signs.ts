import { foldName } from "../../infrastructure/fold-name.ts";
import type { DirectoryEntry } from "../../infrastructure/reading/directory-entries.ts";
import type { Mark } from "./control-file.ts";
import type { ControlLook } from "./control-look.ts";

/** A directory with entries that go into making a repository without a tree; most such make none. */
export interface RepositorySigns {
  /** Absolute. */
  path: string;
  /** Device and inode. */
  identity: string;
  /** The names of these entries. */
  names: readonly string[];
  isRepository: boolean;
}

/** These git reads. */
const READ: ReadonlySet<string> = new Set(["head", "commondir"]);

/** Of these git asks only that they may be "executed", as directories and programs may. */
const PASSED: ReadonlySet<string> = new Set(["objects", "refs"]);

const LENGTHS: ReadonlySet<number> = new Set([...READ, ...PASSED].map((name) => name.length));

/** What git asks of a directory to take it for a repository; see `is_git_directory` in its source. */
export function isRepositorySign({ name, kind }: DirectoryEntry): boolean {
  if (!LENGTHS.has(name.length)) return false;
  const folded = foldName(name);
  return PASSED.has(folded) || (kind !== "directory" && READ.has(folded));
}

/** Whether these entries make one. */
export function isRepositoryBySigns(signs: readonly string[]): boolean {
  if (signs.length < 2) return false;
  const folded = new Set(signs.map(foldName));
  return folded.has("head") && (folded.has("commondir") || (folded.has("objects") && folded.has("refs")));
}

/** A directory that has become a repository. */
export interface PlantedRepository extends RepositorySigns {
  /** Of the entries that make it one, those that are to go: absolute. */
  parts: readonly string[];
}

/** What has become a repository without a tree between two looks, old directories and new ones. */
export function findPlantedRepositories(before: ControlLook, after: ControlLook): PlantedRepository[] {
  return [...after.signs.values()].flatMap((signs) => {
    const earlier = before.signs.get(signs.identity);
    if (!signs.isRepository || earlier?.isRepository) return [];
    const added = signs.names.filter((name) => !earlier?.names.includes(name));
    // Without it there is none, and nobody keeps anything else in it.
    const heads = added.filter((name) => foldName(name) === "head");
    const parts = heads.length > 0 ? heads : added;
    return [{ ...signs, parts: parts.map((name) => `${signs.path}/${name}`) }];
  });
}

/** A look as if these had not become repositories. */
export function withoutRepositories(
  look: ControlLook,
  planted: readonly PlantedRepository[],
  before: ControlLook,
): ControlLook {
  if (planted.length === 0) return look;
  const paths = new Set(planted.map(({ path }) => path));
  const signs = new Map(look.signs);
  for (const { identity } of planted) {
    const earlier = before.signs.get(identity);
    if (earlier) signs.set(identity, earlier);
    else signs.delete(identity);
  }
  const isOfOne = (path: string) =>
    planted.some((one) => path === one.path || /^\/(?:worktrees|modules)\//.test(restOf(path, one.path)));
  // These may lie in a directory with such a name and be the user's.
  const isOther = (path: string) => before.gitDirectories.includes(path) && !paths.has(path);
  return {
    ...look,
    signs,
    files: withoutMarksOf(look, paths),
    gitDirectories: look.gitDirectories.filter((path) => isOther(path) || !isOfOne(path)),
  };
}

/** Without what only these repositories made control files, and what only their settings and links did. */
function withoutMarksOf({ files, gitMarks }: ControlLook, planted: ReadonlySet<string>) {
  const marks: Map<string, Mark> = new Map([...files, ...gitMarks]);
  const inForce = new Set<string>();
  const isOne = ({ reasons, repositories }: Mark) =>
    (reasons === undefined && repositories === undefined) ||
    repositories?.some((path) => !planted.has(path)) ||
    reasons?.some((reason) => reason.every((path) => inForce.has(path)));
  // Settings may lie in one of these and be included by others, and so name what they named before.
  for (let known = -1; known < inForce.size; ) {
    known = inForce.size;
    for (const [path, mark] of marks) if (!inForce.has(path) && isOne(mark)) inForce.add(path);
  }
  return new Map([...files].filter(([, file]) => isOne(file)));
}

/** What follows the directory in a path; nothing for a path elsewhere. */
function restOf(path: string, directory: string): string {
  return path.startsWith(`${directory}/`) ? path.slice(directory.length) : "";
}
