import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./shipped-program.ts";

/** The fields of a package.json that are used. */
export interface PackageFile {
  name: string;
  version: string;
  description?: string;
  license?: string;
  dependencies?: Record<string, string>;
  engines?: Record<string, string>;
  /** The entry points of a library: their names and their files. */
  exports?: Record<string, string>;
}

const VERSION = /^\d+\.\d+\.\d+$/;

/** The runtime that the packages need, as stated by the repository. */
export function readEngines(): Record<string, string> {
  const { engines = {} }: Partial<PackageFile> = JSON.parse(
    readFileSync(join(REPOSITORY, "package.json"), "utf8"),
  );
  return engines;
}

/** @throws Error if it is missing, is not JSON or does not name a package. */
export function readPackageFile(directory: string): PackageFile {
  const path = join(directory, "package.json");
  const file: PackageFile = JSON.parse(readFileSync(path, "utf8"));
  if (!file.name || !file.version) throw new Error(`${path} has no name and version.`);
  return file;
}

/**
 * The pinned versions of some of a package's dependencies.
 * @throws Error for a missing dependency or one without an exact version: what is installed must be what was
 * tested.
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

/** Writes the package.json of a staged package: the description of its source, and `fields`. */
export function writePackageFile(
  directory: string,
  { name, version, description, license }: PackageFile,
  fields: Record<string, unknown>,
): void {
  const file = { name, version, description, license, type: "module", ...fields, engines: readEngines() };
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(file, null, 2)}\n`);
}
