import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { readSmallText } from "../../infrastructure/fs/read.ts";
import { findRealPath, isInside } from "../../infrastructure/fs/real-path.ts";
import { findStats } from "../../infrastructure/fs/stat.ts";
import { MAX_COPIED_OBJECT_BYTES } from "../../infrastructure/paths/git.ts";
import type { ProtectedAccess } from "../../infrastructure/process/shell-wrapper.ts";
import { findHeldGitDirectories } from "../protected-files/changes.ts";
import type { ProtectedFileScan } from "../protected-files/types.ts";
import { findUnreadableFiles } from "./hidden-paths.ts";
import type { PrivateTemporary } from "./seccomp.ts";

/** The file access of a sandboxed command. All paths are absolute and real, parents before their contents. */
export interface SandboxMounts {
  /** Writable directories. */
  writable: readonly string[];
  /** Also writable, and mounted so that they cannot be moved or replaced; see `findFixed`. */
  fixed: readonly string[];
  /** Below the writable directories: readable and executable, but not changeable, movable or removable. */
  protected: readonly string[];
  /** Home directories that show only a part of their contents; hidden paths directly in them are not in `hidden`. */
  homes: readonly HomeView[];
  /** Directories and files that appear empty to a command. */
  hiddenDirectories: readonly string[];
  hiddenFiles: readonly string[];
  /** Existing files of the project that may not be read. */
  unreadableFiles: readonly string[];
  /** The directory for temporary files; undefined if none can outlive a command. */
  temporary?: PrivateTemporary | undefined;
}

interface MountInput
  extends Pick<OwnMountsInput, "roots" | "linkedGitDirectories" | "settledGitDirectories"> {
  look: ProtectedFileScan;
  /** What the command may change and read although it is protected or hidden. */
  access?: ProtectedAccess | undefined;
  /** Additional files of the project that commands may not read. */
  projectSecrets: readonly string[];
  /** Paths to hide, including links and missing paths. */
  secrets: readonly string[];
  /** Home directories to rebuild, including links and missing ones; empty if that is not possible. */
  homes: readonly string[];
  /** The system's temporary directories. */
  sharedTemporary: readonly string[];
  temporary: PrivateTemporary | undefined;
}

// Each mount costs start-up time, and each further mount costs more: about 40 ms in total.
export const MAX_MOUNTS = 200;

// Each entry of a rebuilt home directory is a mount: 15 ms, or more if the project has many mounts too.
const MAX_SHOWN = 100;
const MAX_MOUNTS_WITH_HOMES = 150;

// Hidden files and directories: hiding this many makes a sandbox start some 30 ms slower.
const MAX_HIDDEN = 300;

/** Determines the mounts. @throws Error if there are too many, or if a writable path was replaced. */
export function planMounts(input: MountInput): SandboxMounts {
  const { roots, look, temporary, access } = input;
  if (!look.isComplete) throw new Error("the project has too many directories to protect");
  const fixed = findFixed({ ...input, gitDirectories: look.gitDirectories });
  const packs = findLargePacks(fixed.filter((path) => look.gitDirectories.includes(path)));
  fixed.push(...packs.directories);
  assertReal([...roots, ...fixed, ...(temporary ? [temporary.files] : [])]);
  if (temporary) assertApart(temporary.directory, roots);
  // A link cannot be mounted over and is restored afterwards. Its target is among the files.
  const held = [...look.files.values()].filter(({ kind }) => kind !== "link").map(({ path }) => path);
  // Nothing may be created in them, because nobody could see it.
  const unlistable = [...look.unlistable.values()].map(({ path }) => path);
  const places = [
    ...held.filter((path) => !look.gitDirectories.includes(path) && !access?.mayWrite(path)),
    ...unlistable,
    ...packs.files,
  ];
  const count = fixed.length + places.length;
  if (count > MAX_MOUNTS)
    throw new Error(`the project has ${count} paths to protect; at most ${MAX_MOUNTS} are possible`);
  const real = input.secrets.map((path) => findRealPath(path, "/") ?? path);
  const homes = findHomes(input, { real, maxShown: Math.min(MAX_SHOWN, MAX_MOUNTS_WITH_HOMES - count) });
  const all = findHidden(input, real);
  // Paths directly in a rebuilt home directory are left out of it.
  const isMount = (path: string) => !homes.some(({ directory }) => dirname(path) === directory);
  const hidden = { directories: all.directories.filter(isMount), files: all.files.filter(isMount) };
  const hiddenCount = hidden.directories.length + hidden.files.length;
  if (hiddenCount > MAX_HIDDEN)
    throw new Error(`${hiddenCount} paths would have to be hidden; at most ${MAX_HIDDEN} are possible`);
  const secrets = [...findUnreadableFiles(look.files.values(), roots), ...input.projectSecrets];
  return {
    writable: byDepth(roots),
    fixed: byDepth(fixed),
    protected: byDepth(places),
    homes,
    hiddenDirectories: byDepth(hidden.directories),
    hiddenFiles: byDepth(hidden.files),
    unreadableFiles: byDepth(secrets.filter((path) => !access?.mayRead(path))),
    temporary,
  };
}

/** Throws if the session's own directory and a writable path are nested: a command could replace the directory. */
function assertApart(directory: string, roots: readonly string[]): void {
  const root = roots.find((path) => isInside(directory, path) || isInside(path, directory));
  if (root !== undefined)
    throw new Error(`${root}, which commands may write to, and the session's ${directory} are nested`);
}

/** @param real where the secrets really are; a link to one is left out as well. */
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
  // A home directory inside another is rebuilt inside it; otherwise the outer one would show all of its contents.
  return byDepth(homes.flatMap((home) => directories.get(home) ?? []))
    .filter(isFree)
    .flatMap(
      (home) => findHomeView(home, { maxShown, isHidden: (name) => hidden.has(`${home}/${name}`) }) ?? [],
    );
}

function toRealEntry(path: string): [path: string, realPath: string | undefined] {
  return [path, findRealPath(path, "/")];
}

/** The paths without duplicates, paths below another hidden directory, and paths that a command cannot reach. */
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
    return undefined; // The path does not exist, so there is nothing to hide.
  }
}

interface OwnMountsInput {
  /** The writable directories, the project first. */
  roots: readonly string[];
  /** Writable git directories elsewhere. */
  linkedGitDirectories: readonly string[];
  /** All git directories. */
  gitDirectories: readonly string[];
  /** The git directories that existed before any command ran, and were mounted in place for every command since. */
  settledGitDirectories: ReadonlySet<string>;
}

/**
 * The directories that are mounted over themselves, so that commands can write to them but not replace them.
 * Bubblewrap receives paths and resolves them a little later. Directories behind one that a sandboxed command could
 * replace by a link are therefore left out: only directories directly in a root are fixed, and those that lead from
 * one root to another nested root, from the first command on.
 */
function findFixed(input: OwnMountsInput): string[] {
  const { roots, linkedGitDirectories, gitDirectories, settledGitDirectories } = input;
  const settled = gitDirectories.filter((path) => settledGitDirectories.has(path));
  const right = findHeldGitDirectories(settled, roots);
  const ways = roots.flatMap((root) => roots.flatMap((outer) => findWay(root, outer)));
  return [...right, ...ways, ...findOutermost(linkedGitDirectories, roots)];
}

/** The directories from one root to another inside it: without the first, including the last. */
function findWay(root: string, outer: string): string[] {
  return root === outer || !isInside(root, outer) ? [] : [root, ...findWay(dirname(root), outer)];
}

/** The roots that are not inside another root. */
function findOutermost(directories: readonly string[], roots: readonly string[]): string[] {
  const isHeldBy = (path: string, others: readonly string[]) =>
    others.some((other) => other !== path && isInside(path, other));
  return directories.filter(
    (path) => !roots.includes(path) && !isHeldBy(path, roots) && !isHeldBy(path, directories),
  );
}

/** @throws Error if a link leads to one of the directories: the mount would end up at another place. */
function assertReal(directories: readonly string[]): void {
  for (const path of directories)
    if (findRealPath(path, "/") !== path) throw new Error(`${path} is now a link, or is reached through one`);
}

/**
 * Directories in shared temporary directories on the way to a mount inside them. A command's files in its own
 * temporary directory would otherwise show through: each sandbox gets other, empty directories.
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

// NixOS keeps its programs here.
const SYSTEM_DIRECTORIES: readonly string[] = [
  "/run/current-system",
  "/run/booted-system",
  "/run/opengl-driver",
];

/**
 * The directories with programs, and the targets of links in them, if they would be hidden; only existing ones.
 *
 * @param path as in the environment. @param hidden directories, absolute.
 */
export function findShownDirectories(path: string | undefined, hidden: readonly string[]): string[] {
  const isHidden = (place: string) => hidden.some((directory) => place.startsWith(`${directory}/`));
  const directories = [...SYSTEM_DIRECTORIES, ...(path ?? "").split(delimiter)].filter(isHidden);
  return [...new Set(directories.flatMap((directory) => [directory, ...findLinked(directory, isHidden)]))];
}

function findLinked(directory: string, isHidden: (place: string) => boolean): string[] {
  // A program of an npm package needs the packages beside it; npx fetches Bun itself in this way.
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
    // A directory in PATH that cannot be listed contains no programs to start.
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
  /** Links, and their targets as written. */
  links: readonly { path: string; target: string }[];
}

const MAX_MOUNT_TABLE_BYTES = 1024 * 1024;

/**
 * Plans the rebuilt view of a home directory. It shows no file that replaces a hidden one or is created while a
 * command runs, and no pipes or sockets. Undefined if the directory has too many entries, contains mount points, or
 * cannot be read.
 *
 * @param directory absolute and real.
 * @param options.isHidden takes names in the directory.
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
      // A name that is not valid text cannot be passed on a command line.
      if (isHidden(entry.name) || entry.name.includes("\u{fffd}")) continue;
      if (entry.isSymbolicLink()) links.push({ path, target: readlinkSync(path) });
      else if (entry.isDirectory() || entry.isFile()) shown.push(path);
    }
    return shown.length > maxShown ? undefined : { directory, shown, links };
  } catch {
    return undefined; // The entry does not exist or is changing now: its hidden contents are hidden one by one.
  }
}

/**
 * True if something is mounted directly in the directory: accessing such a mount may fail, or take as long as a
 * network does.
 */
function holdsMounts(directory: string): boolean {
  const table = readSmallText("/proc/self/mountinfo", MAX_MOUNT_TABLE_BYTES) ?? "";
  return table.split("\n").some((line) => dirname(line.split(" ")[4] ?? "") === directory);
}

/** Git packs that no command may change, move or remove: they are too large to be copied before each command. */
interface LargePacks {
  /** Directories on the way to them, which are mounted in place; parents first. */
  directories: string[];
  files: string[];
}

/** @param gitDirectories those that are mounted in place themselves; absolute and real. */
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
    return []; // The directory does not exist or cannot be listed, so commands cannot remove anything from it.
  }
}
