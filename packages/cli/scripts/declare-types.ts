import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LIBRARY_SOURCE, REPOSITORY } from "./shipped-program.ts";

/**
 * Writes the declarations of the library; files that no entry point needs are deleted again.
 * @param faces the declarations of the files that the package exports, absolute.
 * @throws Error if the compiler reports errors.
 */
export function declareTypes(outdir: string, faces: readonly string[]): void {
  const project = join(outdir, "declarations.json");
  const compilerOptions = {
    noEmit: false,
    emitDeclarationOnly: true,
    declaration: true,
    outDir: outdir,
    rootDir: LIBRARY_SOURCE,
    types: [join(REPOSITORY, "node_modules", "@types", "bun")],
  };
  const settings = { extends: join(REPOSITORY, "tsconfig.json"), compilerOptions, include: [LIBRARY_SOURCE] };
  writeFileSync(project, JSON.stringify(settings));
  const compiler = Bun.spawnSync([join(REPOSITORY, "node_modules", ".bin", "tsc"), "-p", project]);
  rmSync(project);
  if (!compiler.success) throw new Error(`tsc: ${compiler.stdout}${compiler.stderr}`);
  const reachable = new Set<string>();
  for (const face of faces) reachDeclaration(face, reachable);
  for (const file of new Bun.Glob("**/*.d.ts").scanSync({ cwd: outdir, absolute: true }))
    if (!reachable.has(file)) rmSync(file);
}

/**
 * Follows the imports of a declaration and rewrites them to existing files: `./types.js` stands for
 * `types.d.ts`.
 */
function reachDeclaration(path: string, reachable: Set<string>): void {
  if (reachable.has(path)) return;
  reachable.add(path);
  const text = readFileSync(path, "utf8");
  const imports = /((?:from |import\()")(\.{1,2}\/[^"]+)\.ts"/g;
  for (const [, , specifier = ""] of text.matchAll(imports)) {
    const target = join(path, "..", `${specifier}.d.ts`);
    if (!existsSync(target)) throw new Error(`${path} needs ${target}, which does not exist.`);
    reachDeclaration(target, reachable);
  }
  writeFileSync(path, text.replace(imports, '$1$2.js"'));
}
