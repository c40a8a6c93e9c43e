import { homeDirectory } from "../infrastructure/environment.ts";
import { findRealPath, isInside } from "../infrastructure/reading/real-path.ts";
import type { CheckpointOptions } from "./types.ts";

/** Why nothing in a place is ever kept; undefined where it is. */
export function findPlaceObstacle({ root, environment }: CheckpointOptions): string | undefined {
  const home = homeDirectory(environment);
  const realHome = home === undefined ? undefined : findRealPath(home, "/");
  if (root === "/") return "the project is the whole file system";
  if (realHome === undefined || !isInside(realHome, root)) return undefined;
  return root === realHome ? "the project is your home directory" : "your home directory is in the project";
}
