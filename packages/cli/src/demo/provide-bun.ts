import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "@diligent/core/run";
import { shellQuote } from "./shell-quote.ts";

/**
 * The environment with a `bun` on its PATH, which the tests of the sample project are run with. Where there is none,
 * `directory` gets one that starts the runtime we are running in, be it `bun` itself or a compiled diligent.
 */
export function provideBun(
  environment: Environment,
  directory: string,
  runtime = process.execPath,
): Environment {
  const path = environment.PATH ?? "";
  if (path !== "" && Bun.which("bun", { PATH: path })) return environment;
  mkdirSync(directory, { recursive: true });
  // A compiled program behaves like bun itself when this variable is set.
  const launcher = `#!/bin/sh\nBUN_BE_BUN=1 exec ${shellQuote(runtime)} "$@"\n`;
  writeFileSync(join(directory, "bun"), launcher, { mode: 0o755 });
  return { ...environment, PATH: path === "" ? directory : `${directory}${delimiter}${path}` };
}
