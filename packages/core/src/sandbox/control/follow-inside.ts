import { lstatSync, readlinkSync } from "node:fs";
import { resolve } from "node:path";
import { fromNameBytes, toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";

/** How a path leads through what commands may change. */
export interface InnerWay {
  /** The links on the way, each by a path without links before it; one that the path ends with included. */
  links: string[];
  /** Where it leads, there or not; undefined where that is elsewhere, or nowhere. */
  end: string | undefined;
}

// Linux gives up after as many.
const MAX_LINKS = 40;

/**
 * Follows a path as long as it stays in one of `roots`, which are real: what lies elsewhere is not touched, since it may
 * be anybody's, or a file system that does not answer.
 * @param path absolute, without `..`.
 */
export function followInside(path: string, roots: readonly string[]): InnerWay {
  const links: string[] = [];
  let end = path;
  while (links.length <= MAX_LINKS) {
    const root = roots.find((one) => isInside(end, one));
    if (root === undefined) return { links, end: undefined };
    const link = findFirstLink(end, root);
    if (link === undefined) return { links, end };
    links.push(link);
    const target = readTarget(link);
    if (target === undefined) break;
    end = resolve(directoryOf(link), target, end.slice(link.length + 1));
  }
  return { links, end: undefined };
}

function findFirstLink(path: string, root: string): string | undefined {
  for (let end = root.length; end < path.length; ) {
    const next = path.indexOf("/", end + 1);
    end = next < 0 ? path.length : next;
    const part = path.slice(0, end);
    const isLink = isLinkThere(part);
    if (isLink === undefined) return undefined;
    if (isLink) return part;
  }
  return undefined;
}

/** Undefined where nothing is. */
function isLinkThere(path: string): boolean | undefined {
  try {
    return lstatSync(toSystemPath(path)).isSymbolicLink();
  } catch {
    return undefined; // Nothing that lies further down is there either.
  }
}

function readTarget(link: string): string | undefined {
  try {
    return fromNameBytes(readlinkSync(toSystemPath(link), { encoding: "buffer" }));
  } catch {
    return undefined; // Gone meanwhile.
  }
}

/** As `dirname`, which loses the bytes of a name that is no text. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
