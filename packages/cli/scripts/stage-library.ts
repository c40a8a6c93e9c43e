import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { declareTypes } from "./declare-types.ts";
import { pinnedDependencies, readPackageFile, writePackageFile } from "./package-file.ts";
import { CORE_PACKAGE, LIBRARY_SOURCE, REPOSITORY } from "./shipped-program.ts";
import { writeThirdParty } from "./third-party.ts";

// Its WebAssembly must be where the code looks for it, so both go into the library.
const BUNDLED = "web-tree-sitter";
/** The other entry points are for the program only, cut for a quick start. */
const PUBLISHED: ReadonlySet<string> = new Set([
  ".",
  "./config",
  "./providers",
  "./sessions",
  "./testing",
  "./tools",
]);

/**
 * Writes the content of the package `@diligent/core` into a new directory: JavaScript, and declarations for
 * TypeScript.
 */
export async function stageLibrary(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const source = readPackageFile(CORE_PACKAGE);
  const dependencies = Object.keys(source.dependencies ?? {}).filter((each) => each !== BUNDLED);
  const faces = Object.entries(source.exports ?? {}).filter(([face]) => PUBLISHED.has(face));
  const { metafile } = await Bun.build({
    entrypoints: faces.map(([, file]) => join(CORE_PACKAGE, file)),
    root: LIBRARY_SOURCE,
    outdir: join(directory, "dist"),
    target: "bun",
    format: "esm",
    splitting: true,
    metafile: true,
    external: dependencies,
  });
  declareTypes(
    join(directory, "dist"),
    faces.map(([, file]) => join(directory, publishedFace(file).types)),
  );
  writePackageFile(directory, source, {
    exports: Object.fromEntries(faces.map(([face, file]) => [face, publishedFace(file)])),
    dependencies: pinnedDependencies(source, dependencies),
  });
  copyFileSync(join(REPOSITORY, "LICENSE"), join(directory, "LICENSE"));
  copyFileSync(join(CORE_PACKAGE, "README.md"), join(directory, "README.md"));
  writeThirdParty(directory, metafile);
}

/** The path in the package that stands for `./src/provider/openai.ts`. */
function publishedFace(file: string): { types: string; default: string } {
  const stem = file.replace(/^\.\/src\//, "./dist/").replace(/\.ts$/, "");
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}
