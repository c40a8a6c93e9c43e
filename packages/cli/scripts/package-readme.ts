import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./shipped-program.ts";

const INTRODUCTION = join(import.meta.dir, "package-readme.md");
// The README's text before this line is about checkouts.
const USE_BEGINS = "Then, in any project:\n";

/**
 * The package's README: its own introduction, followed by the repository's README from the first commands on.
 * Its links point to the pages in the package.
 * @throws Error if the README lacks the line to continue from.
 */
export function formatPackageReadme(): string {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const begin = readme.indexOf(USE_BEGINS);
  if (begin < 0) throw new Error(`README.md has no line “${USE_BEGINS.trim()}” to continue from.`);
  const rest = readme.slice(begin + USE_BEGINS.length).replaceAll("packages/cli/docs/", "docs/");
  return readFileSync(INTRODUCTION, "utf8") + rest;
}
