import { lstatSync, readlinkSync } from "node:fs";
import { fromNameBytes, toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";

/** How a path leads through what commands may change. */
export interface InnerWay {
  /** The links on the way, each by a path without links before it. */
  links: string[];
  /** What the path names, there or not, without links on the way; undefined where that is elsewhere. */
  end: string | undefined;
  /** How many entries were looked at. */
  steps: number;
}

// Linux gives up after as many.
const MAX_LINKS = 40;

// More than paths have; commands can make links that lead on and on.
const MAX_STEPS = 256;
const MAX_LENGTH = 16_384;

/**
 * Follows a path as the system does: a link may lead into one of `roots` from outside, and what `..` stands for depends on
 * the links before it.
 * @param path absolute, as it is written.
 * @param roots real.
 * @param options.throughEnd whether a link that the path ends with is followed too.
 */
export function followInside(path: string, roots: readonly string[], { throughEnd = false } = {}): InnerWay {
  const links: string[] = [];
  if (path.length > MAX_LENGTH) return { links, end: undefined, steps: 0 };
  // Above a root there are no links.
  const start = roots.find((root) => path.startsWith(`${root}/`)) ?? "";
  const rest = toParts(path.slice(start.length));
  let end = start;
  let steps = 0;
  let seen = 0;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    steps += 1;
    if (steps > MAX_STEPS || seen > MAX_LINKS) return { links, end: undefined, steps };
    if (part === "..") {
      end = directoryOf(end);
      continue;
    }
    const next = `${end}/${part}`;
    const target = rest.length > 0 || throughEnd ? readTarget(next) : undefined;
    if (target === undefined) {
      end = next;
      continue;
    }
    seen += 1;
    if (roots.some((root) => isInside(next, root))) links.push(next);
    if (target.startsWith("/")) end = "";
    rest.unshift(...toParts(target));
  }
  return { links, end: roots.some((root) => isInside(end || "/", root)) ? end : undefined, steps };
}

function toParts(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/** As it is written; undefined for what is no link or not there. */
function readTarget(path: string): string | undefined {
  try {
    const name = toSystemPath(path);
    if (!lstatSync(name).isSymbolicLink()) return undefined;
    return fromNameBytes(readlinkSync(name, { encoding: "buffer" }));
  } catch {
    return undefined; // Missing, and what lies further down is missing too.
  }
}

/** As `dirname`, which loses the bytes of a name that is no text. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
