import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readPackageFile } from "./package-file.ts";

// The innermost package of a file: in a package store, a path has several `node_modules`.
const PACKAGE_DIRECTORY = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

/**
 * Writes THIRD-PARTY.md next to a build: the third-party work that it contains.
 * @param more directories of packages that were included in another way.
 */
export function writeThirdParty(
  directory: string,
  metafile: Bun.BuildMetafile | undefined,
  more: readonly string[] = [],
): void {
  if (!metafile) throw new Error("The bundler did not report what the bundle contains.");
  const packages = [...bundledPackages(metafile), ...more];
  writeFileSync(join(directory, "THIRD-PARTY.md"), formatThirdParty(packages, process.cwd()));
}

/** The directories of the packages that became part of a build, by name. */
function bundledPackages({ inputs }: Pick<Bun.BuildMetafile, "inputs">): string[] {
  const directories = Object.keys(inputs).flatMap((path) => PACKAGE_DIRECTORY.exec(path)?.[1] ?? []);
  return [...new Set(directories)].sort();
}

/**
 * What the licences of bundled packages require: whose work a build contains, and on what terms.
 * @param directories relative to `base`, or absolute.
 */
function formatThirdParty(directories: readonly string[], base: string): string {
  const parts = directories.map((directory) => describePackage(resolve(base, directory))).sort();
  const unique = parts.filter((part, index) => part !== parts[index - 1]);
  return `diligent contains the work of others, each part on the terms that follow it.\n\n${unique.join("\n")}`;
}

/** Work of others that a package contains without its licence. */
const INCLUDED: Readonly<Record<string, string>> = {
  unpdf:
    "It contains pdf.js, © Mozilla Foundation, Apache License 2.0: the text is that of the package openai.",
};

function describePackage(directory: string): string {
  const { name, version, license } = readPackageFile(directory);
  const texts = readdirSync(directory)
    .filter((file) => LICENSE_FILE.test(file) && existsSync(join(directory, file)))
    .sort()
    .map((file) => readFileSync(join(directory, file), "utf8").trim());
  const included = INCLUDED[name] === undefined ? [] : [INCLUDED[name]];
  return [`## ${name} ${version} (${license ?? "see below"})`, ...included, ...texts, ""].join("\n\n");
}
