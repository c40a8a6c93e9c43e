import { delimiter } from "node:path";

// What NixOS keeps its programs under.
const SYSTEM_DIRECTORIES: readonly string[] = [
  "/run/current-system",
  "/run/booted-system",
  "/run/opengl-driver",
];

/**
 * What programs are found in, where that would be hidden.
 * @param path as in the environment. @param hidden directories, absolute.
 */
export function findShownDirectories(path: string | undefined, hidden: readonly string[]): string[] {
  const isHidden = (place: string) => hidden.some((directory) => place.startsWith(`${directory}/`));
  return [...SYSTEM_DIRECTORIES, ...(path ?? "").split(delimiter)].filter(isHidden);
}
