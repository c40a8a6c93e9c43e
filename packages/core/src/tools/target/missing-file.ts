import { basename, dirname, join, relative } from "node:path";
import { nearestNames } from "../../infrastructure/nearest-name.ts";
import { isExistingPath, listNames } from "../../infrastructure/reading/directory-names.ts";
import type { Workspace } from "../workspace.ts";

const MAX_LISTED = 20;
const MAX_COMPARED = 10_000;

/** The error for a path where nothing is: it names what is there instead, so that the next try can be right. */
export function missingFileError(workspace: Workspace, path: string): Error {
  return new Error(`There is no file or directory ${path}. ${suggestion(workspace, path)}`);
}

function suggestion(workspace: Workspace, path: string): string {
  const fromRoot = join(workspace.root, relative(workspace.cwd, path));
  if (fromRoot !== path && isExistingPath(fromRoot)) return `Did you mean ${fromRoot}?`;
  const directory = dirname(path);
  const names = listNames(directory);
  if (names === undefined) return missingDirectory(directory);
  if (names.length === 0) return `The directory ${directory} is empty.`;
  const near = nearestNames(basename(path), names.slice(0, MAX_COMPARED));
  if (near.length > 0) return `Did you mean ${near.map((name) => join(directory, name)).join(" or ")}?`;
  const more = names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : "";
  return `In ${directory} there are: ${names.slice(0, MAX_LISTED).join(", ")}${more}. Or search for it with glob.`;
}

function missingDirectory(directory: string): string {
  let existing = dirname(directory);
  let missing = basename(directory);
  while (!isExistingPath(existing) && existing !== dirname(existing)) {
    missing = basename(existing);
    existing = dirname(existing);
  }
  const near = nearestNames(missing, (listNames(existing) ?? []).slice(0, MAX_COMPARED));
  const hint =
    near.length > 0 ? ` Did you mean ${near.map((name) => join(existing, name)).join(" or ")}?` : "";
  return `The directory ${join(existing, missing)} does not exist either.${hint || " Search for it with glob."}`;
}
