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

// Linux gives up after 40 links in one path; more than that is a loop.
const MAX_LINKS = 40;

/** Where a path leads, and whether another process may come out elsewhere. */
interface FollowedPath {
  path: string;
  /** True when the way leads through `/proc` or `/dev`, or a link like theirs: they show each process something else. */
  isPerProcess: boolean;
}

/**
 * Where a path really leads: every symbolic link followed, a dangling one included, `..` taken the way the kernel takes
 * it. A part that does not exist yet is kept as it is written. Undefined when the path cannot be followed: a loop of
 * links, one to a name that is no valid Unicode, or a directory that may not be searched.
 */
export function findRealPath(path: string, cwd: string): string | undefined {
  return followPath(path, cwd)?.path;
}

/** `findRealPath`, with what is to be known about the way there. */
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

/** Shared memory is an ordinary directory; everything else in `/dev` is a device or leads to one. */
function isShownPerProcess([top, second]: readonly string[]): boolean {
  return top === "proc" || (top === "dev" && second !== undefined && second !== "shm");
}

/** True when `path` is `directory` or lies below it. Both are absolute and real; compared component by component. */
export function isInside(path: string, directory: string): boolean {
  if (isTidy(path) && isTidy(directory)) {
    return path === directory || path.startsWith(directory === sep ? sep : directory + sep);
  }
  const outer = splitPath(resolve(directory));
  const inner = splitPath(resolve(path));
  return outer.every((part, index) => inner[index] === part);
}

/** True for an absolute path that says nothing twice: two of these can be compared as they are. */
function isTidy(path: string): boolean {
  return path.startsWith(sep) && !/\/\/|\/\.\.?(?:\/|$)|.\/$/.test(path);
}

/** The components of a path, without empty ones and `.`. */
export function splitPath(path: string): string[] {
  return path.split(sep).filter((part) => part !== "" && part !== ".");
}

/** A link that is made while it is looked at, as those of `/proc` are wherever it is mounted, has no size. */
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

/** False for a name that is no valid Unicode: what it was is lost, and with it where it leads. */
export function isReadable(name: string): boolean {
  return !name.includes("\ufffd");
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}

// Linux's O_PATH, the same number on every machine that Bun runs on: such a descriptor needs no right to list the
// directory, as writing into it needs none. Node names no constant for it.
const O_PATH = 0o10000000;

/**
 * A directory that stays the one that was looked at. Another process may rename it, or put a link in its place or above
 * it: names in it are still reached through the open directory, so that nothing comes to lie anywhere else. Where the
 * system offers no such way (no `/proc`), names are plain paths, and `assertHolds` tells whether one still was right.
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
   * `realPath` must be real: no link in it.
   * @throws MovedPathError when it leads elsewhere by now, and system errors.
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

  /** A directory in this one, which is no longer needed for it. @throws as `open` does. */
  openChild(name: string): HeldDirectory {
    const realPath = join(this.realPath, name);
    if (!this.isReachable) return HeldDirectory.open(realPath, this.descriptors);
    return new HeldDirectory(openDirectory(this.at(name), realPath), realPath, this.descriptors);
  }

  /** The path of a name in it for this process, `.` for itself. Good until it is closed. */
  at(name: string): string {
    return this.isReachable ? `${this.descriptors}/${this.descriptor}/${name}` : join(this.realPath, name);
  }

  /** Its own path for a child process. */
  get pathForChildren(): string {
    return pathForChildrenOf(this.descriptor, this.descriptors) ?? this.realPath;
  }

  /**
   * To be called with a file just opened by `at(name)`, before anything is done with it.
   * @throws MovedPathError when it was not opened in this directory, which only a plain path lets happen.
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
    // What was a directory a moment ago is a link or a file now.
    if (["ELOOP", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) throw new MovedPathError(realPath);
    throw error;
  }
}

/** Where Linux shows the open files of this process, each as a link to where it lies. */
export const DESCRIPTORS = "/proc/self/fd";

/** A path leads elsewhere than it did when it was looked at; nothing was read or written there. */
export class MovedPathError extends Error {
  override name = "MovedPathError";
  constructor(path: string) {
    super(
      `${path} leads elsewhere by now, or is gone: another program has moved a part of its path. Try again.`,
    );
  }
}

/** Where an open file or directory lies at this moment; undefined where the system does not tell. */
export function pathOfDescriptor(descriptor: number, descriptors = DESCRIPTORS): string | undefined {
  try {
    return fromNameBytes(readlinkSync(`${descriptors}/${descriptor}`, { encoding: "buffer" }));
  } catch {
    return undefined; // No /proc: the caller has another way.
  }
}

/** A path to an open file or directory of this process for a child of it; undefined where there is none. */
export function pathForChildrenOf(descriptor: number, descriptors = DESCRIPTORS): string | undefined {
  const isShown = pathOfDescriptor(descriptor, descriptors) !== undefined;
  return isShown ? `/proc/${process.pid}/fd/${descriptor}` : undefined;
}

/**
 * To be called when a path that was real has been opened: another process may have put a link into the place of one of
 * its directories just before. Where the system does not tell where an open file lies, the path is followed once more,
 * which notices all but a link that was there for the moment of opening only.
 * @throws MovedPathError when what was opened does not lie at `realPath`.
 */
export function assertOpenedAt(descriptor: number, realPath: string, descriptors = DESCRIPTORS): void {
  const opened = pathOfDescriptor(descriptor, descriptors);
  // What was replaced after it was opened lay there all the same.
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
    return false; // A part of the path is gone or no longer ours to look at.
  }
}

/** Where files that hold for a whole project may lie. */
interface DirectoriesUpwards {
  /** Real paths, the start first. */
  directories: string[];
  /** The directory with `.git` that ends the list, where there is one. */
  repository: string | undefined;
}

/**
 * The directories from `cwd` up to the one that has `.git`, both included. Where there is none: up to the home
 * directory. What lies above the home directory is never in the list, unless one starts there.
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
