import { homedir, tmpdir, userInfo } from "node:os";

/** Environment variables by name, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process: the default wherever one can be passed in. */
export function processEnvironment(): Environment {
  return process.env;
}

/** The user's home directory, or undefined where there is none. */
export function homeDirectory(environment: Environment = process.env): string | undefined {
  const home = environment.HOME || homedir();
  return home === "" || home === "/" ? undefined : home;
}

/** Whom this process belongs to, as the system knows it whatever the environment says. */
export function processAccount(): { home: string | undefined; isAdministrator: boolean } {
  const isAdministrator = process.getuid?.() === 0;
  try {
    return { home: userInfo().homedir, isAdministrator };
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
