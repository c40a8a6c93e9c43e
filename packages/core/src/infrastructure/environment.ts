import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

/** Environment variables by name, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process: the default wherever one can be passed in. */
export function processEnvironment(): Environment {
  return process.env;
}

/** The user's home directory, absolute; undefined where there is none. A `HOME` that is relative counts as if it were not set. */
export function homeDirectory(environment: Environment = process.env): string | undefined {
  const named = environment.HOME || homedir();
  const home = isAbsolute(named) ? named : (processAccount().home ?? "");
  return isAbsolute(home) && home !== "/" ? home : undefined;
}

/** Whom this process belongs to, as the system knows it whatever the environment says. */
export function processAccount(): { home: string | undefined; isAdministrator: boolean } {
  const isAdministrator = process.getuid?.() === 0;
  try {
    const home = userInfo().homedir; // Bun looks at HOME for it.
    return { home: isAbsolute(home) ? home : undefined, isAdministrator };
  } catch {
    return { home: undefined, isAdministrator }; // In a container its number may belong to nobody.
  }
}

/** What `TMPDIR` names, or the system: shared with others, and perhaps a link. */
export function temporaryDirectory(): string {
  return tmpdir();
}

/** The processor as Node names it, such as `x64` or `arm64`. */
export function processorName(): string {
  return process.arch;
}

/** The operating system as Node names it, such as `linux` or `darwin`. */
export function platformName(): string {
  return process.platform;
}
