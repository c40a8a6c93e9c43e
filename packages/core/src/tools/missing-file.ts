import { readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { findRealPath, HeldDirectory, isInside } from "../infrastructure/fs/real-path.ts";
import { isExistingPath } from "../infrastructure/fs/stat.ts";
import { nearestNames } from "../infrastructure/nearest-name.ts";
import type { ApprovedTarget } from "./target.ts";
import type { Workspace } from "./workspace.ts";

const MAX_LISTED = 20;
const MAX_COMPARED = 10_000;

/**
 * The error for a path that does not exist: it names existing files, so that the next attempt can succeed. Only names
 * from directories that the call was allowed to read are given.
 */
export function missingFileError(
  workspace: Workspace,
  target: Pick<ApprovedTarget, "path" | "realPath">,
): Error {
  return new Error(`There is no file or directory ${target.path}. ${suggestion(workspace, target)}`);
}

function suggestion(
  workspace: Workspace,
  { path, realPath }: Pick<ApprovedTarget, "path" | "realPath">,
): string {
  const fromRoot = join(workspace.root, relative(workspace.cwd, path));
  if (fromRoot !== path && isExistingInside(workspace, fromRoot)) return `Did you mean ${fromRoot}?`;
  const directory = dirname(path);
  const names = namesIn(dirname(realPath));
  if (names === undefined) return describeUnlisted({ path: directory, realPath: dirname(realPath) });
  if (names.length === 0) return `The directory ${directory} is empty.`;
  const near = nearestNames(basename(path), names.slice(0, MAX_COMPARED));
  if (near.length > 0) return `Did you mean ${near.map((name) => join(directory, name)).join(" or ")}?`;
  const more = names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : "";
  return `${directory} contains ${names.slice(0, MAX_LISTED).join(", ")}${more}. Or search for it with glob.`;
}

function isExistingInside({ root, cwd }: Workspace, path: string): boolean {
  const realPath = findRealPath(path, cwd);
  return realPath !== undefined && isInside(realPath, root) && isExistingPath(realPath);
}

/** Reads exactly that directory: a link put in its place meanwhile must not be followed. */
function namesIn(realPath: string): string[] | undefined {
  try {
    using directory = HeldDirectory.open(realPath);
    return readdirSync(directory.at(".")).sort();
  } catch {
    return undefined; // Missing or not readable: no names are known then.
  }
}

/** The missing part has the same names in both paths: links are only followed in the part that exists. */
function describeUnlisted(directory: { path: string; realPath: string }): string {
  let { path: missing, realPath } = directory;
  if (isExistingPath(realPath)) return `The directory ${missing} cannot be listed.`;
  for (; !isExistingPath(dirname(realPath)); realPath = dirname(realPath)) missing = dirname(missing);
  const near = nearestNames(basename(missing), (namesIn(dirname(realPath)) ?? []).slice(0, MAX_COMPARED));
  const hint =
    near.length > 0 ? ` Did you mean ${near.map((name) => join(dirname(missing), name)).join(" or ")}?` : "";
  return `The directory ${missing} does not exist either.${hint || " Search for it with glob."}`;
}
