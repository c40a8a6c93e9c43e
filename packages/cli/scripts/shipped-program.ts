import { join } from "node:path";
import { describeBuiltCommit } from "./built-commit.ts";
import { compileChunks } from "./compile-chunks.ts";

export const CLI_PACKAGE = join(import.meta.dir, "..");
export const CORE_PACKAGE = join(CLI_PACKAGE, "..", "core");
export const REPOSITORY = join(CLI_PACKAGE, "..", "..");
export const LIBRARY_SOURCE = join(CORE_PACKAGE, "src");
export const DEFAULT_OUTPUT = join(CLI_PACKAGE, "dist");

/** Finds its binary next to its own package, so it must remain a package. */
export const RIPGREP = "@vscode/ripgrep";

/**
 * The build options of the program for every form of packaging: minified, and split so that `--version` loads
 * almost nothing.
 */
export const PROGRAM_SETTINGS = {
  entrypoints: [join(CLI_PACKAGE, "src", "index.ts")],
  target: "bun",
  format: "esm",
  minify: true,
  splitting: true,
  metafile: true,
  define: { BUILD_COMMIT: JSON.stringify(await describeBuiltCommit(REPOSITORY)) },
} as const satisfies Bun.BuildConfig;

/** Everything that a bundle consists of: a file, and two directories. */
export const BUNDLE_FILES = { entry: "diligent.js", chunks: "chunks", assets: "assets" } as const;

/** The program as files, with bytecode: the output of `bun run bundle` and the content of the package. */
export async function bundleProgram(outdir: string): Promise<{ metafile: Bun.BuildMetafile | undefined }> {
  const { entry, chunks, assets } = BUNDLE_FILES;
  const { metafile } = await Bun.build({
    ...PROGRAM_SETTINGS,
    outdir,
    naming: { entry, chunk: `${chunks}/[name]-[hash].js`, asset: `${assets}/[name]-[hash].[ext]` },
    external: [RIPGREP],
  });
  await compileChunks(join(outdir, chunks));
  return { metafile };
}
