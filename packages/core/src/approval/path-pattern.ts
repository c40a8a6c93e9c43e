import { isAbsolute, join, relative } from "node:path";
import { foldName } from "../infrastructure/fold-name.ts";
import { findRealPath, isInside } from "../infrastructure/reading/real-path.ts";

/** A path as rules see it: absolute, with the project it is compared with. */
export interface NamedPath {
  path: string;
  /** The project root as this path would begin with it. */
  root: string;
  home?: string | undefined;
}

/**
 * True when the glob matches the path from the project root, or, beginning with `/` or `~/`, the absolute path. `*`
 * and `?` stay within one name, `**` does not. A wide match also counts other spellings of the same letters and, for
 * `directory/**`, the directory itself: what is to be kept away is kept away under every name.
 */
export function matchesPath(pattern: string, named: NamedPath, isWide: boolean): boolean {
  const { glob, isFromRoot } = toGlob(pattern, named);
  const subject = isFromRoot ? relative(named.root, named.path) : named.path;
  if (isFromRoot && !isInside(named.path, named.root)) return false;
  const matcher = globFor(isWide ? foldPattern(glob) : glob);
  if (!isWide) return matcher.match(subject);
  const folded = foldName(subject);
  return matcher.match(folded) || (glob.endsWith("/**") && matcher.match(`${folded}/_`));
}

function toGlob(pattern: string, { root, home }: NamedPath): { glob: string; isFromRoot: boolean } {
  const isHome = pattern === "~" || pattern.startsWith("~/");
  const absolute = isHome && home !== undefined ? join(home, pattern.slice(1)) : pattern;
  if (!isAbsolute(absolute)) return { glob: absolute.replace(/^(?:\.\/)+/, ""), isFromRoot: true };
  return { glob: followPrefix(absolute, root), isFromRoot: false };
}

/**
 * The directories a pattern begins with, by real path: `/tmp/**` is `/private/tmp/**` where that is what `/tmp` means.
 * Not in the project, whose links are not the user's.
 */
function followPrefix(pattern: string, root: string): string {
  const parts = pattern.split("/");
  const firstGlob = parts.findIndex((part) => /[*?[{!\\]/.test(part));
  const prefix = parts.slice(0, firstGlob < 0 ? parts.length - 1 : firstGlob).join("/") || "/";
  if (isInside(prefix, root)) return pattern;
  const real = findRealPath(prefix, "/");
  if (real === undefined || isInside(real, root)) return pattern;
  return join(real, pattern.slice(prefix.length));
}

const globs = new Map<string, Bun.Glob>();

function globFor(pattern: string): Bun.Glob {
  const known = globs.get(pattern);
  if (known) return known;
  const glob = new Bun.Glob(pattern);
  globs.set(pattern, glob);
  return glob;
}

function foldPattern(pattern: string): string {
  return pattern.normalize("NFKC").toLowerCase();
}
