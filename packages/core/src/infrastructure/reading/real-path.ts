import { lstatSync, readlinkSync } from "node:fs";
import { isAbsolute, parse, resolve, sep } from "node:path";

// Linux gives up after 40 links in one path; more than that is a loop.
const MAX_LINKS = 40;

/**
 * Where a path really leads: every symbolic link followed, a dangling one included, `..` taken the way the kernel takes
 * it. A part that does not exist yet is kept as it is written. Undefined when the path cannot be followed: a loop of
 * links, or a directory that may not be searched.
 */
export function findRealPath(path: string, cwd: string): string | undefined {
  const absolute = isAbsolute(path) ? path : `${cwd}${sep}${path}`;
  const root = parse(absolute).root;
  const rest = splitPath(absolute.slice(root.length));
  let current: string[] = [];
  let links = 0;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === "..") {
      current = current.slice(0, -1);
      continue;
    }
    const step = followLink(root + [...current, part].join(sep));
    if (step.kind === "unreachable") return undefined;
    if (step.kind === "plain") {
      current.push(part);
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return undefined;
    if (isAbsolute(step.target)) current = [];
    rest.unshift(...splitPath(step.target));
  }
  return root + current.join(sep);
}

/** True when `path` is `directory` or lies below it. Both are absolute and real; compared component by component. */
export function isInside(path: string, directory: string): boolean {
  const outer = splitPath(resolve(directory));
  const inner = splitPath(resolve(path));
  return outer.every((part, index) => inner[index] === part);
}

/** The components of a path, without empty ones and `.`. */
export function splitPath(path: string): string[] {
  return path.split(sep).filter((part) => part !== "" && part !== ".");
}

type Step = { kind: "plain" } | { kind: "link"; target: string } | { kind: "unreachable" };

function followLink(path: string): Step {
  try {
    if (!lstatSync(path).isSymbolicLink()) return { kind: "plain" };
    return { kind: "link", target: readlinkSync(path) };
  } catch (error) {
    return isMissing(error) ? { kind: "plain" } : { kind: "unreachable" };
  }
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
