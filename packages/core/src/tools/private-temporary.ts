import { isInside } from "../infrastructure/fs/real-path.ts";
import { isExistingPath } from "../infrastructure/fs/stat.ts";
import type { CommandTemporary } from "../infrastructure/process/shell-wrapper.ts";

/**
 * The path that a command would use for a path in its temporary directory: files that a command writes to `/tmp` are
 * the ones that a tool reads there, and vice versa. Other paths are returned unchanged.
 * @param creates true for a tool that creates the file; otherwise a file that exists only in the system's directory is
 * meant.
 */
export function toPrivatePath(path: string, view: CommandTemporary, { creates = false } = {}): string {
  const shared = view.shared.find((directory) => isInside(path, directory));
  const isKept = [view.directory, ...view.kept].some((directory) => isInside(path, directory));
  if (shared === undefined || isKept) return path;
  const inside = view.directory + path.slice(shared.length);
  return creates || isExistingPath(inside) || !isExistingPath(path) ? inside : path;
}
