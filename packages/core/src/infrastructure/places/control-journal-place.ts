import { join } from "node:path";
import type { Environment } from "../environment.ts";
import { userStateDirectory } from "./user-directories.ts";

// Sixteen digits tell all projects of a person apart.
const NAME_DIGITS = 16;

/**
 * Where the sessions of a project keep what control files there are while boxed commands run: `boxed/HASH` in the user's
 * state directory, which is there only while one does, or did and was killed. Undefined without a state directory.
 *
 * @param root the project, absolute and real.
 */
export function controlJournalDirectory(environment: Environment, root: string): string | undefined {
  const state = userStateDirectory(environment);
  if (state === undefined) return undefined;
  return join(state, "boxed", Bun.SHA256.hash(root, "hex").slice(0, NAME_DIGITS));
}
