import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Builds what ships: minified, split so that `--version` loads next to nothing, into `packages/cli/dist`. */
const packageRoot = join(import.meta.dir, "..");
const outdir = join(packageRoot, "dist");

rmSync(outdir, { recursive: true, force: true });
const result = await Bun.build({
  entrypoints: [join(packageRoot, "src", "index.ts")],
  outdir,
  target: "bun",
  format: "esm",
  minify: true,
  splitting: true,
  naming: { entry: "diligent.js", chunk: "chunks/[name]-[hash].js", asset: "assets/[name]-[hash].[ext]" },
  // Finds its binary beside its own package, so it has to stay a package.
  external: ["@vscode/ripgrep"],
});
chmodSync(join(outdir, "diligent.js"), 0o755);

const bytes = result.outputs.reduce((sum, output) => sum + output.size, 0);
console.log(`${result.outputs.length} files, ${Math.round(bytes / 1024)} KB in ${outdir}`);
