import { lstatSync, type Stats } from "node:fs";
import { systemErrorCode } from "../system-error.ts";

/**
 * What stands at a path, a link at its end not followed. Undefined where nothing does, also where a file stands above it:
 * for that `throwIfNoEntry: false` alone throws. @throws the file system's error for what may not be looked at.
 */
export function findStats(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemErrorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
