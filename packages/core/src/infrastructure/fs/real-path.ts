import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import { findProjectRoot } from "../paths/project.ts";
import { platformName } from "../runtime.ts";
import { systemErrorCode } from "../system-error.ts";
import { fromNameBytes, toSystemPath } from "./stat.ts";

// Linux gives up after 40 links in one path; more are a loop.
const MAX_LINKS = 40;

/** A resolved path, and whether other processes resolve it differently. */
interface FollowedPath {
  path: string;
  /** True when the path goes through `/proc` or `/dev`, or a link like theirs: they are different for each process. */
  isPerProcess: boolean;
}

/**
 * Resolves a path: every symbolic link is followed, including dangling ones, and `..` is resolved as by the kernel.
 * Missing parts are kept as written. Undefined when the path cannot be resolved: a loop of links, a link to a name that
 * is not valid Unicode, or a directory that may not be searched.
 */
export function findRealPath(path: string, cwd: string): string | undefined {
  return followPath(path, cwd)?.path;
}

/** `findRealPath` with `isPerProcess`. */
export function followPath(path: string, cwd: string): FollowedPath | undefined {
  const absolute = isAbsolute(path) ? path : `${cwd}${sep}${path}`;
  const root = parse(absolute).root;
  const rest = splitPath(absolute.slice(root.length));
  let current: string[] = [];
  let links = 0;
  let isPerProcess = false;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === "..") {
      current = current.slice(0, -1);
      continue;
    }
    const next = [...current, part];
    const step = followLink(root + next.join(sep));
    if (step.kind === "unreachable") return undefined;
    isPerProcess ||= isShownPerProcess(next) || (step.kind === "link" && step.isMade);
    if (step.kind === "plain") {
      current = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return undefined;
    if (isAbsolute(step.target)) current = [];
    rest.unshift(...splitPath(step.target));
  }
  return { path: root + current.join(sep), isPerProcess };
}

/** Shared memory is an ordinary directory; all other entries of `/dev` are devices or lead to one. */
function isShownPerProcess([top, second]: readonly string[]): boolean {
  return top === "proc" || (top === "dev" && second !== undefined && second !== "shm");
}

/** True when `path` is `directory` or inside it. Both are absolute and real; compared component by component. */
export function isInside(path: string, directory: string): boolean {
  if (isTidy(path) && isTidy(directory)) {
    return path === directory || path.startsWith(directory === sep ? sep : directory + sep);
  }
  const outer = splitPath(resolve(directory));
  const inner = splitPath(resolve(path));
  return outer.every((part, index) => inner[index] === part);
}

/** True for a normalized absolute path: two such paths can be compared directly. */
function isTidy(path: string): boolean {
  return path.startsWith(sep) && !/\/\/|\/\.\.?(?:\/|$)|.\/$/.test(path);
}

/** The components of a path, without empty ones and `.`. */
export function splitPath(path: string): string[] {
  return path.split(sep).filter((part) => part !== "" && part !== ".");
}

/** A link that is created when it is read, like those of `/proc`, has no size. */
type Step = { kind: "plain" } | { kind: "link"; target: string; isMade: boolean } | { kind: "unreachable" };

function followLink(path: string): Step {
  try {
    const stats = lstatSync(path);
    if (!stats.isSymbolicLink()) return { kind: "plain" };
    const target = readlinkSync(path);
    if (!isReadable(target)) return { kind: "unreachable" };
    return { kind: "link", target, isMade: stats.size === 0 };
  } catch (error) {
    return isMissing(error) ? { kind: "plain" } : { kind: "unreachable" };
  }
}

/** False for a name that is not valid Unicode: its bytes, and its target, are unknown. */
export function isReadable(name: string): boolean {
  return !name.includes("\ufffd");
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}

// Linux's O_PATH, the same number on every machine that Bun supports: such a descriptor needs no permission to list the
// directory, just as writing into it needs none. Node has no constant for it.
const O_PATH = 0o10000000;

/**
 * An open directory. Another process may rename it, or replace it or a parent by a link: its entries are still accessed
 * through the open directory, so nothing is written elsewhere. Without system support (no `/proc`), entries are plain
 * paths, and `assertHolds` detects a replacement.
 */
export class HeldDirectory implements Disposable {
  private readonly isReachable: boolean;

  private constructor(
    private readonly descriptor: number,
    readonly realPath: string,
    private readonly descriptors: string,
  ) {
    this.isReachable = pathOfDescriptor(descriptor, descriptors) !== undefined;
  }

  /**
   * `realPath` must be real.
   * @throws MovedPathError when it leads elsewhere now, and system errors.
   */
  static open(realPath: string, descriptors = DESCRIPTORS): HeldDirectory {
    const descriptor = openDirectory(realPath, realPath);
    try {
      assertOpenedAt(descriptor, realPath, descriptors);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return new HeldDirectory(descriptor, realPath, descriptors);
  }

  /** Opens a directory inside this one, which may then be closed. @throws like `open`. */
  openChild(name: string): HeldDirectory {
    const realPath = join(this.realPath, name);
    if (!this.isReachable) return HeldDirectory.open(realPath, this.descriptors);
    return new HeldDirectory(openDirectory(this.at(name), realPath), realPath, this.descriptors);
  }

  /** The path of an entry for this process, `.` for the directory itself. Valid until it is closed. */
  at(name: string): string {
    return this.isReachable ? `${this.descriptors}/${this.descriptor}/${name}` : join(this.realPath, name);
  }

  /** Its own path for a child process. */
  get pathForChildren(): string {
    return pathForChildrenOf(this.descriptor, this.descriptors) ?? this.realPath;
  }

  /**
   * Call it with a file just opened by `at(name)`, before using it.
   * @throws MovedPathError when the file is not in this directory, which is only possible with a plain path.
   */
  assertHolds(descriptor: number, name: string): void {
    if (!this.isReachable) assertOpenedAt(descriptor, join(this.realPath, name), this.descriptors);
  }

  [Symbol.dispose](): void {
    closeSync(this.descriptor);
  }
}

function openDirectory(path: string, realPath: string): number {
  const access = platformName() === "linux" ? O_PATH : constants.O_RDONLY;
  try {
    return openSync(toSystemPath(path), access | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    // The directory was replaced by a link or a file.
    if (["ELOOP", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) throw new MovedPathError(realPath);
    throw error;
  }
}

/** The directory in which Linux lists this process's open files, as links to their paths. */
export const DESCRIPTORS = "/proc/self/fd";

/** A path leads elsewhere than when it was checked; nothing was read or written there. */
export class MovedPathError extends Error {
  override name = "MovedPathError";
  constructor(path: string) {
    super(`${path} is gone or leads elsewhere: another program has moved a part of its path. Try again.`);
  }
}

/** The current path of an open file or directory; undefined if the system does not provide it. */
export function pathOfDescriptor(descriptor: number, descriptors = DESCRIPTORS): string | undefined {
  try {
    return fromNameBytes(readlinkSync(`${descriptors}/${descriptor}`, { encoding: "buffer" }));
  } catch {
    return undefined; // Without /proc the caller uses another check.
  }
}

/** A path by which a child process can access an open file or directory of this process; undefined if there is none. */
export function pathForChildrenOf(descriptor: number, descriptors = DESCRIPTORS): string | undefined {
  const isShown = pathOfDescriptor(descriptor, descriptors) !== undefined;
  return isShown ? `/proc/${process.pid}/fd/${descriptor}` : undefined;
}

/**
 * Call it after opening a path that was real: another process may just have replaced one of its directories by a link.
 * If the system does not provide the path of an open file, the path is resolved once more, which detects all links
 * except one that only existed at the moment of opening.
 * @throws MovedPathError when the opened file is not at `realPath`.
 */
export function assertOpenedAt(descriptor: number, realPath: string, descriptors = DESCRIPTORS): void {
  const opened = pathOfDescriptor(descriptor, descriptors);
  // Even a file that was replaced after it was opened had the expected path.
  const isThere = opened === realPath || opened === `${realPath} (deleted)`;
  if (opened === undefined ? !isStillAt(descriptor, realPath) : !isThere) {
    throw new MovedPathError(realPath);
  }
}

function isStillAt(descriptor: number, realPath: string): boolean {
  try {
    if (realpathSync(realPath) !== realPath) return false;
    const [own, there] = [
      fstatSync(descriptor, { bigint: true }),
      lstatSync(realPath, { bigint: true, throwIfNoEntry: false }),
    ];
    return own.ino === there?.ino && own.dev === there.dev;
  } catch {
    return false; // A part of the path is missing or not accessible.
  }
}

/** The directories that may contain files for a whole project. */
interface DirectoriesUpwards {
  /** Real paths, from the start directory upwards. */
  directories: string[];
  /** The directory with `.git` that ends the list, if there is one. */
  repository: string | undefined;
}

/**
 * The directories from `cwd` up to the one with `.git`, inclusive; without one, up to the home directory. Directories
 * above the home directory are never in the list, unless `cwd` is one of them.
 */
export function findDirectoriesUpwards(cwd: string, home: string | undefined): DirectoriesUpwards {
  const start = realpathSync(cwd);
  const realHome = home === undefined ? undefined : findRealPath(home, "/");
  const repository = findRepository(start, realHome);
  const directories = [start];
  for (let current = start; current !== repository && current !== realHome; ) {
    const parent = dirname(current);
    if (parent === current || isAbove(parent, realHome)) break;
    directories.push(parent);
    current = parent;
  }
  return { directories, repository };
}

function findRepository(start: string, home: string | undefined): string | undefined {
  const root = findProjectRoot(start, home);
  if (root !== start) return root;
  const isHomeOrAbove = home !== undefined && isInside(home, root);
  return !isHomeOrAbove && existsSync(join(root, ".git")) ? root : undefined;
}

function isAbove(directory: string, home: string | undefined): boolean {
  return home !== undefined && directory !== home && isInside(home, directory);
}
