import { processEnvironment } from "../../infrastructure/environment.ts";
import { resolveExecutable } from "../../infrastructure/processes/executables.ts";
import { findRealPath } from "../../infrastructure/reading/real-path.ts";
import type { ApprovalContext } from "../types.ts";
import type { Operand } from "./program-options.ts";

/**
 * Runtimes that say their version before they look at the directory they are run in, and what the file behind the name
 * is called: a version manager's stand-in, which may fetch and run what the project names, is called otherwise. Not npm,
 * which loads the project's `.npmrc` first.
 */
const RUNTIMES: Readonly<Record<string, RegExp>> = {
  node: /^node(?:js)?$/,
  bun: /^bun(?:\.exe)?$/,
  python3: /^python3(?:\.\d+)?$/,
};

/** True for exactly `NAME --version`. */
export function isVersionQuery(words: readonly Operand[]): boolean {
  return words.length === 1 && words[0]?.text === "--version";
}

/** True where that name is such a runtime itself. That it lies outside the project is for the caller to see. */
export function isRuntime(
  name: string,
  { environment = processEnvironment(), root }: ApprovalContext,
): boolean {
  const expected = Object.hasOwn(RUNTIMES, name) ? RUNTIMES[name] : undefined;
  const file = expected && resolveExecutable(name, { environment, outside: root });
  const real = file && findRealPath(file, "/");
  return real !== undefined && expected?.test(real.slice(real.lastIndexOf("/") + 1)) === true;
}
