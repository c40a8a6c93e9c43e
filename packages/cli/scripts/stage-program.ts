import { chmodSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pinnedDependencies, readPackageFile, writePackageFile } from "./package-file.ts";
import { formatPackageReadme } from "./package-readme.ts";
import { bundleProgram, CLI_PACKAGE, REPOSITORY, RIPGREP } from "./shipped-program.ts";
import { writeThirdParty } from "./third-party.ts";

/**
 * Writes the content of the package `diligent` into a new directory: everything except ripgrep is in its
 * bundle.
 */
export async function stageProgram(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const { metafile } = await bundleProgram(directory);
  chmodSync(join(directory, "diligent.js"), 0o755);
  const source = readPackageFile(CLI_PACKAGE);
  writePackageFile(directory, source, {
    bin: { diligent: "diligent.js" },
    dependencies: pinnedDependencies(source, [RIPGREP]),
  });
  copyFileSync(join(REPOSITORY, "LICENSE"), join(directory, "LICENSE"));
  cpSync(join(CLI_PACKAGE, "docs"), join(directory, "docs"), { recursive: true });
  writeFileSync(join(directory, "README.md"), formatPackageReadme());
  writeThirdParty(directory, metafile);
}
