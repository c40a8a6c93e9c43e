import { join } from "node:path";
import { describeBuiltCommit } from "./built-commit.ts";

export const CLI_PACKAGE = join(import.meta.dir, "..");
export const CORE_PACKAGE = join(CLI_PACKAGE, "..", "core");
export const REPOSITORY = join(CLI_PACKAGE, "..", "..");
export const LIBRARY_SOURCE = join(CORE_PACKAGE, "src");
export const DEFAULT_OUTPUT = join(CLI_PACKAGE, "dist");

/** Finds its binary beside its own package, so it has to stay a package. */
export const RIPGREP = "@vscode/ripgrep";

/** How the program is built, whatever it is packed into: minified, and split so that `--version` loads next to nothing. */
export const PROGRAM_SETTINGS = {
  entrypoints: [join(CLI_PACKAGE, "src", "index.ts")],
  target: "bun",
  format: "esm",
  minify: true,
  splitting: true,
  metafile: true,
  define: { BUILD_COMMIT: JSON.stringify(await describeBuiltCommit(REPOSITORY)) },
} as const satisfies Bun.BuildConfig;

/** Everything that a bundle is made of: a file, and two directories. */
export const BUNDLE_FILES = { entry: "diligent.js", chunks: "chunks", assets: "assets" } as const;

/** The program as files: what `bun run bundle` makes and what is in the package. */
export function bundleProgram(outdir: string): Promise<Bun.BuildOutput> {
  const { entry, chunks, assets } = BUNDLE_FILES;
  return Bun.build({
    ...PROGRAM_SETTINGS,
    outdir,
    naming: { entry, chunk: `${chunks}/[name]-[hash].js`, asset: `${assets}/[name]-[hash].[ext]` },
    external: [RIPGREP],
  });
}
