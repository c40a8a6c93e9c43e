import { homedir, tmpdir } from "node:os";

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

export function temporaryDirectory(): string {
  return tmpdir();
}

/** The operating system as Node names it, such as `linux` or `darwin`. */
export function platformName(): string {
  return process.platform;
}
