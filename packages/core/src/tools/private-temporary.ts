import { isInside } from "../infrastructure/fs/real-path.ts";
import { isExistingPath } from "../infrastructure/fs/stat.ts";
import type { CommandTemporary } from "../infrastructure/process/shell-wrapper.ts";

/**
 * Where a path leads that a command would find in its temporary directory: what a command wrote to `/tmp` is what a tool
 * reads there, and the other way round. Any other path stays as it is.
 * @param creates true for a tool that makes the file; otherwise a file that only the system's directory has is meant.
 */
export function toPrivatePath(path: string, view: CommandTemporary, { creates = false } = {}): string {
  const shared = view.shared.find((directory) => isInside(path, directory));
  const isKept = [view.directory, ...view.kept].some((directory) => isInside(path, directory));
  if (shared === undefined || isKept) return path;
  const inside = view.directory + path.slice(shared.length);
  return creates || isExistingPath(inside) || !isExistingPath(path) ? inside : path;
}
