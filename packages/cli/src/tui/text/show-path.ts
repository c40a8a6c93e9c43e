/** A path as people read it: from the working directory on where it is below, whole otherwise. `path` is absolute. */
export function showPath(path: string, cwd: string | undefined): string {
  if (cwd === undefined || cwd === "/" || !path.startsWith(`${cwd}/`)) return path;
  return path.slice(cwd.length + 1) || path;
}
