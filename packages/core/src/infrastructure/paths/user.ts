import { isAbsolute, join } from "node:path";
import { type Environment, homeDirectory } from "../runtime.ts";

const NAME = "diligent";

/** The age at which drafts and logs in the state directory are removed. */
export const STATE_KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;

/** The user's own configuration: `$XDG_CONFIG_HOME/diligent`, by default `~/.config/diligent`. Undefined without a home. */
export function userConfigDirectory(environment: Environment): string | undefined {
  return directoryOf(environment.XDG_CONFIG_HOME, { environment, fallback: [".config"] });
}

/**
 * The directory for data that is kept between runs: `$XDG_STATE_HOME/diligent`, by default `~/.local/state/diligent`.
 */
export function userStateDirectory(environment: Environment): string | undefined {
  return directoryOf(environment.XDG_STATE_HOME, { environment, fallback: [".local", "state"] });
}

/** The directory for data that can be built again or outlives its use: `$XDG_DATA_HOME/diligent`, by default `~/.local/share/diligent`. */
export function userDataDirectory(environment: Environment): string | undefined {
  return directoryOf(environment.XDG_DATA_HOME, { environment, fallback: [".local", "share"] });
}

function directoryOf(
  base: string | undefined,
  { environment, fallback }: { environment: Environment; fallback: readonly string[] },
): string | undefined {
  // The XDG specification says that relative paths must be ignored.
  if (base !== undefined && isAbsolute(base)) return join(base, NAME);
  const home = homeDirectory(environment);
  return home === undefined ? undefined : join(home, ...fallback, NAME);
}

// Sixteen digits are enough to distinguish all projects of a user.
const NAME_DIGITS = 16;

/**
 * The directory in which a project's sessions record existing protected files while sandboxed commands run:
 * `boxed/HASH` in the user's state directory. It exists only while a command runs, or after one was killed. Undefined
 * without a state directory.
 *
 * @param root the project, absolute and real.
 */
export function protectedFileJournalDirectory(environment: Environment, root: string): string | undefined {
  const state = userStateDirectory(environment);
  if (state === undefined) return undefined;
  return join(state, "boxed", Bun.SHA256.hash(root, "hex").slice(0, NAME_DIGITS));
}

/**
 * The file with the grants of one session, in the user's state directory, where a project cannot write. Undefined
 * without a home directory, and for an invalid session id.
 */
export function sessionGrantsPath(environment: Environment, sessionId: string): string | undefined {
  const directory = userStateDirectory(environment);
  const isId = /^[\w.-]{1,100}$/.test(sessionId);
  return directory !== undefined && isId ? join(directory, "session-grants", `${sessionId}.json`) : undefined;
}
