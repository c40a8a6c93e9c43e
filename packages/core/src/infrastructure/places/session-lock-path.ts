import { join } from "node:path";
import type { Environment } from "../environment.ts";
import { findRealPath } from "../reading/real-path.ts";
import { userStateDirectory } from "./user-directories.ts";

// Sixteen digits tell all sessions of a person apart.
const NAME_DIGITS = 16;

/** `locks/HASH` in the user's state directory; undefined without one. It need not exist, nor the session's file. */
export function sessionLockPath(environment: Environment, sessionPath: string): string | undefined {
  const state = userStateDirectory(environment);
  const realPath = findRealPath(sessionPath, "/");
  if (state === undefined || realPath === undefined) return undefined;
  return join(state, "locks", Bun.SHA256.hash(realPath, "hex").slice(0, NAME_DIGITS));
}
