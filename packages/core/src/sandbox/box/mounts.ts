import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { findRealPath, isInside } from "../../infrastructure/fs/real-path.ts";
import { findStats } from "../../infrastructure/fs/stat.ts";
import { MAX_COPIED_OBJECT_BYTES } from "../../infrastructure/paths/git.ts";
import { findHeldGitDirectories } from "../protected-files/changes.ts";
import type { ProtectedFileScan } from "../protected-files/types.ts";
import { findUnreadableFiles } from "./hidden-paths.ts";
import type { PrivateTemporary } from "./seccomp.ts";

/** What a sandboxed command may do where; all paths are absolute and real, parents before their contents. */
export interface SandboxMounts {
  /** May be written to. */
  writable: readonly string[];
  /** May be written to as well, and are to stay where they are; see `findFixed`. */
  fixed: readonly string[];
  /** Below the writable ones: readable and executable, but not changeable, movable or removable. */
  protected: readonly string[];
  /** Home directories that show less than what they hold; what is hidden right in them is not below. */
  homes: readonly HomeView[];
  /** Directories and files that appear empty to a command. */
  hiddenDirectories: readonly string[];
  hiddenFiles: readonly string[];
  /** Files of the project that are there and may not be read. */
  unreadableFiles: readonly string[];
  /** Where temporary files go; undefined where none can be kept beyond a command. */
  temporary?: PrivateTemporary | undefined;
}

interface MountInput
  extends Pick<OwnMountsInput, "roots" | "linkedGitDirectories" | "settledGitDirectories"> {
  look: ProtectedFileScan;
  /** Further files of the project that commands may not read. */
  projectSecrets: readonly string[];
  /** What is to be hidden, links and missing ones included. */
  secrets: readonly string[];
  /** Home directories to be made anew, links and missing ones included; none where that is not possible. */
  homes: readonly string[];
  /** The system's temporary directories. */
  sharedTemporary: readonly string[];
  temporary: PrivateTemporary | undefined;
}

// Each mount costs start-up time, increasingly so: about 40 ms together.
export const MAX_MOUNTS = 200;

// What lies in a home directory that is made anew is a mount each: 15 ms, and more with more of the project's.
const MAX_SHOWN = 100;
const MAX_MOUNTS_WITH_HOMES = 150;

// Hidden files and directories: hiding all of them makes a sandbox start some 30 ms slower.
const MAX_HIDDEN = 300;

/**
 * Determines the mounts. @throws Error if there are too many, or if a writable path has been replaced.
 */
export function planMounts(input: MountInput): SandboxMounts {
  const { roots, look, temporary } = input;
  if (!look.isComplete) throw new Error("the project has too many directories to protect");
  const fixed = findFixed({ ...input, gitDirectories: look.gitDirectories });
  const packs = findLargePacks(fixed.filter((path) => look.gitDirectories.includes(path)));
  fixed.push(...packs.directories);
  assertReal([...roots, ...fixed, ...(temporary ? [temporary.files] : [])]);
  if (temporary) assertApart(temporary.directory, roots);
  // A link cannot be held, and is put back. What it leads to is among the files.
  const held = [...look.files.values()].filter(({ kind }) => kind !== "link").map(({ path }) => path);
  // Nobody could see what comes about in them: nothing may.
  const unlistable = [...look.unlistable.values()].map(({ path }) => path);
  const places = [
    ...held.filter((path) => !look.gitDirectories.includes(path)),
    ...unlistable,
    ...packs.files,
  ];
  const count = fixed.length + places.length;
  if (count > MAX_MOUNTS)
    throw new Error(`the project has ${count} paths to protect; at most ${MAX_MOUNTS} are possible`);
  const real = input.secrets.map((path) => findRealPath(path, "/") ?? path);
  const homes = findHomes(input, { real, maxShown: Math.min(MAX_SHOWN, MAX_MOUNTS_WITH_HOMES - count) });
  const all = findHidden(input, real);
  // What lies right in a home directory that is made anew is left out of it.
  const isMount = (path: string) => !homes.some(({ directory }) => dirname(path) === directory);
  const hidden = { directories: all.directories.filter(isMount), files: all.files.filter(isMount) };
  const hiddenCount = hidden.directories.length + hidden.files.length;
  if (hiddenCount > MAX_HIDDEN)
    throw new Error(`${hiddenCount} paths would have to be hidden; at most ${MAX_HIDDEN} are possible`);
  return {
    writable: byDepth(roots),
    fixed: byDepth(fixed),
    protected: byDepth(places),
    homes,
    hiddenDirectories: byDepth(hidden.directories),
    hiddenFiles: byDepth(hidden.files),
    unreadableFiles: byDepth([
      ...new Set([...findUnreadableFiles(look.files.values(), roots), ...input.projectSecrets]),
    ]),
    temporary,
  };
}

/** Who can write around the session's own directory can put another one in its place. */
function assertApart(directory: string, roots: readonly string[]): void {
  const root = roots.find((path) => isInside(directory, path) || isInside(path, directory));
  if (root !== undefined)
    throw new Error(`${root}, which commands may write to, and the session's ${directory} are nested`);
}

/** @param real where the secrets really are; where a link stands for one, it is left out as well. */
function findHomes(
  { homes, secrets, roots, sharedTemporary }: MountInput,
  { real, maxShown }: { real: readonly string[]; maxShown: number },
) {
  const directories = new Map([...new Set([...homes, ...secrets.map(dirname)])].map(toRealEntry));
  const named = secrets.map((path) => `${directories.get(dirname(path))}/${basename(path)}`);
  const hidden = new Set([...named, ...real]);
  const isFree = (home: string) =>
    !roots.some((root) => isInside(home, root)) &&
    !sharedTemporary.some((directory) => isInside(home, directory));
  // One that lies in another is made anew above it, or it would show all that it holds.
  return byDepth(homes.flatMap((home) => directories.get(home) ?? []))
    .filter(isFree)
    .flatMap(
      (home) => findHomeView(home, { maxShown, isHidden: (name) => hidden.has(`${home}/${name}`) }) ?? [],
    );
}

function toRealEntry(path: string): [path: string, realPath: string | undefined] {
  return [path, findRealPath(path, "/")];
}

/** Each once, without what is hidden with a directory above it or is not there for a command. */
function findHidden({ roots, sharedTemporary }: MountInput, real: readonly string[]) {
  const isGone = (path: string) =>
    sharedTemporary.some((directory) => isInside(path, directory)) &&
    !roots.some((root) => isInside(path, root));
  const directories: string[] = [];
  const files: string[] = [];
  for (const path of byDepth(real)) {
    if (isGone(path) || directories.some((directory) => isInside(path, directory))) continue;
    const kind = kindOf(path);
    if (kind === "directory") directories.push(path);
    if (kind === "file") files.push(path);
  }
  const held = directories.find((directory) => roots.some((root) => isInside(root, directory)));
  if (held !== undefined) throw new Error(`the project lies in ${held}, which is hidden from commands`);
  return { directories, files };
}

function byDepth(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort();
}

function kindOf(path: string): "directory" | "file" | undefined {
  try {
    return lstatSync(path).isDirectory() ? "directory" : "file";
  } catch {
    return undefined; // Not there: nothing to hide.
  }
}

interface OwnMountsInput {
  /** Where commands may write, the project first. */
  roots: readonly string[];
  /** Git directories elsewhere that they may write to as well. */
  linkedGitDirectories: readonly string[];
  /** All git directories. */
  gitDirectories: readonly string[];
  /** Of these, those that were there when nothing ran, and have been held in place for everything that ran since. */
  settledGitDirectories: ReadonlySet<string>;
}

/**
 * What is mounted over itself, so that it can be written to and not be exchanged. Bubblewrap is told paths, and follows them
 * some time after they were looked at. So nothing is among these that lies behind a directory which something boxed could
 * put a link in the place of: what lies right in a root, or leads to a root in another one from the first command on.
 */
function findFixed(input: OwnMountsInput): string[] {
  const { roots, linkedGitDirectories, gitDirectories, settledGitDirectories } = input;
  const settled = gitDirectories.filter((path) => settledGitDirectories.has(path));
  const right = findHeldGitDirectories(settled, roots);
  const ways = roots.flatMap((root) => roots.flatMap((outer) => findWay(root, outer)));
  return [...right, ...ways, ...findOutermost(linkedGitDirectories, roots)];
}

/** From one root to another in which it lies: that one left out, itself included. */
function findWay(root: string, outer: string): string[] {
  return root === outer || !isInside(root, outer) ? [] : [root, ...findWay(dirname(root), outer)];
}

/** In a root they are reached through that, and what lies in one of them through it. */
function findOutermost(directories: readonly string[], roots: readonly string[]): string[] {
  const isHeldBy = (path: string, others: readonly string[]) =>
    others.some((other) => other !== path && isInside(path, other));
  return directories.filter(
    (path) => !roots.includes(path) && !isHeldBy(path, roots) && !isHeldBy(path, directories),
  );
}

/** @throws Error where a link leads to one of the directories: what is mounted there would be another place. */
function assertReal(directories: readonly string[]): void {
  for (const path of directories)
    if (findRealPath(path, "/") !== path) throw new Error(`${path} is now a link, or is reached through one`);
}

/**
 * Directories of the shared temporary ones that lie on the way to what is mounted there. What a command has in its own
 * temporary directory would be mounted through otherwise: each box gets others, which are empty.
 */
export function findCovers(mounted: readonly string[], sharedTemporary: readonly string[]): string[] {
  const covers = sharedTemporary.flatMap((shared) =>
    mounted.flatMap((path) => {
      const [first] = path.startsWith(`${shared}/`) ? path.slice(shared.length + 1).split("/") : [];
      return first === undefined ? [] : [`${shared}/${first}`];
    }),
  );
  return [...new Set(covers)].filter((path) => !mounted.includes(path)).sort();
}

// What NixOS keeps its programs under.
const SYSTEM_DIRECTORIES: readonly string[] = [
  "/run/current-system",
  "/run/booted-system",
  "/run/opengl-driver",
];

/**
 * Where programs are found and where the links there lead, if that would be hidden: each exists once.
 * @param path as in the environment. @param hidden directories, absolute.
 */
export function findShownDirectories(path: string | undefined, hidden: readonly string[]): string[] {
  const isHidden = (place: string) => hidden.some((directory) => place.startsWith(`${directory}/`));
  const directories = [...SYSTEM_DIRECTORIES, ...(path ?? "").split(delimiter)].filter(isHidden);
  return [...new Set(directories.flatMap((directory) => [directory, ...findLinked(directory, isHidden)]))];
}

function findLinked(directory: string, isHidden: (place: string) => boolean): string[] {
  // A program of an npm package needs the packages beside it, and npx fetches Bun itself as such a program.
  if (basename(directory) === ".bin") return [dirname(directory)];
  return findLinks(directory).flatMap((link) => {
    const target = findTarget(link);
    return target !== undefined && isHidden(target) ? [dirname(target)] : [];
  });
}

function findLinks(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(directory, name));
  } catch {
    // A directory of PATH that cannot be listed has nothing to start either.
    return [];
  }
}

function findTarget(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    // A dangling link.
    return undefined;
  }
}

/** A home directory as a command sees it: its contents except for hidden files. */
export interface HomeView {
  /** Absolute and real. */
  directory: string;
  /** Files and directories, absolute. */
  shown: readonly string[];
  /** Links, and where they lead as they are written. */
  links: readonly { path: string; target: string }[];
}

const MAX_MOUNT_TABLE_BYTES = 1024 * 1024;

/**
 * Made anew, a home directory shows neither what takes the place of a hidden file while a command runs nor what comes
 * about in it, and none of its pipes and sockets. Undefined where it holds too much for that, where other file systems
 * are mounted in it, and where it cannot be read.
 *
 * @param directory absolute and real.
 * @param options.isHidden of names in it.
 */
function findHomeView(
  directory: string,
  { maxShown, isHidden }: { maxShown: number; isHidden(name: string): boolean },
): HomeView | undefined {
  try {
    if (holdsMounts(directory)) return undefined;
    const shown: string[] = [];
    const links: { path: string; target: string }[] = [];
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`;
      // What a name that is no text stands for cannot be said on a command line.
      if (isHidden(entry.name) || entry.name.includes("\u{fffd}")) continue;
      if (entry.isSymbolicLink()) links.push({ path, target: readlinkSync(path) });
      else if (entry.isDirectory() || entry.isFile()) shown.push(path);
    }
    return shown.length > maxShown ? undefined : { directory, shown, links };
  } catch {
    return undefined; // Not there, or it changes in this moment: what is hidden in it is hidden one by one.
  }
}

/** Right in it: to touch what is mounted there may fail, or take as long as a network does. */
function holdsMounts(directory: string): boolean {
  const table = readSmallText("/proc/self/mountinfo", MAX_MOUNT_TABLE_BYTES) ?? "";
  return table.split("\n").some((line) => dirname(line.split(" ")[4] ?? "") === directory);
}

/**
 * Git packs that no command may change, move or remove, because they are too large to be copied before each
 * command.
 */
interface LargePacks {
  /** Directories on the way to them, which stay where they are; parents first. */
  directories: string[];
  files: string[];
}

/** @param gitDirectories those that stay where they are themselves; absolute and real. */
function findLargePacks(gitDirectories: readonly string[]): LargePacks {
  const found = gitDirectories.map((directory) => {
    const packs = `${directory}/objects/pack`;
    const files = listLargeFiles(packs);
    const isReal = files.length > 0 && findRealPath(packs, "/") === packs;
    return isReal ? { directories: [`${directory}/objects`, packs], files } : { directories: [], files: [] };
  });
  return {
    directories: found.flatMap(({ directories }) => directories),
    files: found.flatMap(({ files }) => files),
  };
}

function listLargeFiles(directory: string): string[] {
  try {
    const paths = readdirSync(directory).map((name) => `${directory}/${name}`);
    return paths.filter((path) => {
      const stats = findStats(path);
      return stats?.isFile() === true && stats.size > MAX_COPIED_OBJECT_BYTES;
    });
  } catch {
    return []; // There is no such directory, or nobody may list it: then it holds nothing that could be removed.
  }
}
