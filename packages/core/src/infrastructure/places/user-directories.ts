import { isAbsolute, join } from "node:path";
import { type Environment, homeDirectory } from "../environment.ts";

const NAME = "diligent";

/** The user's own configuration: `$XDG_CONFIG_HOME/diligent`, by default `~/.config/diligent`. Undefined without a home. */
export function userConfigDirectory(environment: Environment): string | undefined {
  return directoryOf(environment.XDG_CONFIG_HOME, { environment, fallback: [".config"] });
}

/** What is remembered between runs: `$XDG_STATE_HOME/diligent`, by default `~/.local/state/diligent`. */
export function userStateDirectory(environment: Environment): string | undefined {
  return directoryOf(environment.XDG_STATE_HOME, { environment, fallback: [".local", "state"] });
}

function directoryOf(
  base: string | undefined,
  { environment, fallback }: { environment: Environment; fallback: readonly string[] },
): string | undefined {
  // The XDG specification wants relative paths ignored: they would depend on where the program is started.
  if (base !== undefined && isAbsolute(base)) return join(base, NAME);
  const home = homeDirectory(environment);
  return home === undefined ? undefined : join(home, ...fallback, NAME);
}
