import { lstatSync, readlinkSync } from "node:fs";
import { isAbsolute, parse, resolve, sep } from "node:path";

// Linux gives up after 40 links in one path; more than that is a loop.
const MAX_LINKS = 40;

/** Where a path leads, and whether another process may come out elsewhere. */
export interface FollowedPath {
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
