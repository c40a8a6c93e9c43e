import { writeFileSync } from "node:fs";
import { join } from "node:path";

const REPOSITORY = join(import.meta.dir, "..", "..", "..", "..");
const SOURCE = join(REPOSITORY, "packages", "core", "src");

/**
 * Writes the declarations of what some files of the library lead to, as they are packed but for the names of imports.
 * The compiler only writes here: whether the sources are right is another check, and takes far longer.
 * @param directory an empty one; it gets `NAME.d.ts` for each file.
 * @param faces from `src`, such as `provider/openai.ts`.
 * @throws Error when the compiler could not be run.
 */
export function declareFaces(directory: string, faces: readonly string[]): void {
  const compilerOptions = {
    noEmit: false,
    emitDeclarationOnly: true,
    declaration: true,
    noCheck: true,
    outDir: directory,
    rootDir: SOURCE,
    types: [join(REPOSITORY, "node_modules", "@types", "bun")],
  };
  const files = [...faces, "infrastructure/text/text-modules.d.ts"].map((file) => join(SOURCE, file));
  const settings = { extends: join(REPOSITORY, "tsconfig.json"), compilerOptions, files, include: [] };
  const project = join(directory, "tsconfig.json");
  writeFileSync(project, JSON.stringify(settings));
  const compiler = Bun.spawnSync([join(REPOSITORY, "node_modules", ".bin", "tsc"), "-p", project]);
  if (!compiler.success) throw new Error(`tsc: ${compiler.stdout}${compiler.stderr}`);
}
