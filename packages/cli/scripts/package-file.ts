import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./shipped-program.ts";

/** What is read of a package.json. */
export interface PackageFile {
  name: string;
  version: string;
  description?: string;
  license?: string;
  dependencies?: Record<string, string>;
  engines?: Record<string, string>;
  /** The faces of a library: their names and their files. */
  exports?: Record<string, string>;
}

const VERSION = /^\d+\.\d+\.\d+$/;

/** What the packages run on, as the repository says it. */
export function readEngines(): Record<string, string> {
  const { engines = {} }: Partial<PackageFile> = JSON.parse(
    readFileSync(join(REPOSITORY, "package.json"), "utf8"),
  );
  return engines;
}

/** @throws Error when it is missing, is no JSON or does not name a package. */
export function readPackageFile(directory: string): PackageFile {
  const path = join(directory, "package.json");
  const file: PackageFile = JSON.parse(readFileSync(path, "utf8"));
  if (!file.name || !file.version) throw new Error(`${path} names no package and version.`);
  return file;
}

/**
 * The versions of some of a package's dependencies, as they are pinned.
 * @throws Error for one that is missing or is not an exact version: what is tested is what is installed.
 */
export function pinnedDependencies(
  { name, dependencies = {} }: PackageFile,
  wanted: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    wanted.map((dependency) => {
      const version = dependencies[dependency] ?? "";
      if (!VERSION.test(version))
        throw new Error(`${name} does not pin ${dependency}: ${version || "missing"}`);
      return [dependency, version];
    }),
  );
}
