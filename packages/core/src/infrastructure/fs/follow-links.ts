import { isInside, splitPath } from "./real-path.ts";
import { findStats, readLinkTarget, toSystemPath } from "./stat.ts";

/** How a path leads through some directories. */
export interface FollowedLinks {
  /** The links on the way that lie in these, each by a path without links before it. */
  links: string[];
  /** The path without links, existing or not; undefined if it leads elsewhere. */
  end: string | undefined;
  /** The number of entries that were read. */
  steps: number;
}

// Linux stops after the same number.
const MAX_LINKS = 40;

// More than real paths have; an endless chain of links is possible.
const MAX_STEPS = 256;
const MAX_LENGTH = 16_384;

/**
 * Follows a path as the system does: a link may lead into one of `roots` from outside, and what `..` stands for depends on
 * the links before it.
 * @param path absolute, as it is written.
 * @param roots real.
 * @param options.throughEnd whether a link that the path ends with is followed too.
 */
export function followLinks(
  path: string,
  roots: readonly string[],
  { throughEnd = false } = {},
): FollowedLinks {
  const links: string[] = [];
  if (path.length > MAX_LENGTH) return { links, end: undefined, steps: 0 };
  // Above a root there are no links.
  let end = roots.find((root) => path.startsWith(`${root}/`)) ?? "";
  const rest = splitPath(path.slice(end.length));
  let seen = 0;
  for (let steps = 0; ; steps += 1) {
    const part = rest.shift();
    if (part === undefined)
      return { links, end: roots.some((root) => isInside(end || "/", root)) ? end : undefined, steps };
    if (steps >= MAX_STEPS || seen > MAX_LINKS) return { links, end: undefined, steps };
    if (part === "..") {
      end = end.slice(0, end.lastIndexOf("/"));
      continue;
    }
    const next = `${end}/${part}`;
    const target = rest.length > 0 || throughEnd ? findTarget(next) : undefined;
    if (target === undefined) {
      end = next;
      continue;
    }
    seen += 1;
    if (roots.some((root) => isInside(next, root))) links.push(next);
    if (target.startsWith("/")) end = "";
    rest.unshift(...splitPath(target));
  }
}

function findTarget(path: string): string | undefined {
  try {
    return findStats(toSystemPath(path))?.isSymbolicLink() ? readLinkTarget(path) : undefined;
  } catch {
    return undefined; // It is not accessible, and neither is anything below it.
  }
}
