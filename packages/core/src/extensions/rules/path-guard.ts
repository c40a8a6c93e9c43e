import { isAbsolute, join, normalize, relative } from "node:path";
import type { PathGuard } from "./types.ts";

/** A touched path and what is done to it. */
export interface TouchedPath {
  /** Absolute. */
  path: string;
  access: "write" | "read" | "create" | "remove";
}

/** The directories that decide what a path guard means. */
export interface GuardPlace {
  /** That of the rule, and the project's root. */
  directory: string;
  root: string;
  realPath(path: string): string;
}

/** True if a guard refuses this. */
export function refusesPath(guard: PathGuard, { path, access }: TouchedPath, place: GuardPlace): boolean {
  if ((guard.access === "read") !== (access === "read")) return false;
  if (guard.access === "create" && access !== "create") return false;
  const paths = [...new Set([normalize(path), place.realPath(normalize(path))])];
  if (guard.isAllowed)
    return paths.some(
      (each) => isBelow(each, place.root) && !guard.patterns.some((pattern) => matches(each, pattern, place)),
    );
  return paths.some((each) =>
    guard.patterns.some(
      (pattern) => matches(each, pattern, place) || (access === "remove" && isAbove(each, pattern, place)),
    ),
  );
}

function isBelow(path: string, directory: string): boolean {
  const from = relative(directory, path);
  return from !== "" && from !== ".." && !from.startsWith("../") && !isAbsolute(from);
}

/** Without a slash but at the end, a pattern holds at any depth; `x/` and `x` hold for what is below, too. */
function matches(path: string, pattern: string, { directory }: Pick<GuardPlace, "directory">): boolean {
  const clean = pattern.replace(/^\.\//, "").replace(/\/+(?:\*\*?)?$/, "");
  const base = clean.startsWith("/") ? "/" : directory;
  const from = relative(base, path);
  if (from === "" || from === ".." || from.startsWith("../")) return false;
  const glob = clean.replace(/^\//, "");
  const globs =
    glob.includes("/") || pattern.startsWith("./")
      ? [glob, `${glob}/**`]
      : [glob, `${glob}/**`, `**/${glob}`, `**/${glob}/**`];
  return globs.some((each) => new Bun.Glob(each).match(from));
}

/** True for a directory that contains the beginning of the pattern. */
function isAbove(path: string, pattern: string, { directory }: Pick<GuardPlace, "directory">): boolean {
  const literal = pattern
    .replace(/^\.\//, "")
    .replace(/\/?[^/]*[*?[{].*$/, "")
    .replace(/\/+$/, "");
  if (literal === "") return false;
  const target = literal.startsWith("/") ? literal : join(directory, literal);
  return isBelow(target, path.replace(/\/\*+$/, ""));
}
