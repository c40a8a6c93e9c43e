import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./shipped-program.ts";

const INTRODUCTION = join(import.meta.dir, "package-readme.md");
// What stands before it in the repository's README is about checkouts.
const USE_BEGINS = "Then, in any project:\n";

/**
 * What the package says of itself: an introduction of its own, and what the repository's README says to users from the
 * first commands on. Its links lead to the pages as they lie in the package.
 * @throws Error when the README has not the place that it goes on from.
 */
export function formatPackageReadme(): string {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const begin = readme.indexOf(USE_BEGINS);
  if (begin < 0) throw new Error(`README.md has no line “${USE_BEGINS.trim()}” to go on from.`);
  const rest = readme.slice(begin + USE_BEGINS.length).replaceAll("packages/cli/docs/", "docs/");
  return readFileSync(INTRODUCTION, "utf8") + rest;
}
