import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runBuildScript } from "./run-build-script.ts";
import { DEFAULT_OUTPUT } from "./shipped-program.ts";
import { stageLibrary } from "./stage-library.ts";
import { stageProgram } from "./stage-program.ts";

export const PACKAGES = { diligent: stageProgram, core: stageLibrary } as const;

/**
 * Packs the program and the library into a .tgz each.
 * @param outdir the output directory, created if missing.
 * @returns their paths.
 */
export async function packAll(
  outdir: string,
  names: readonly (keyof typeof PACKAGES)[] = ["diligent", "core"],
): Promise<string[]> {
  const stage = mkdtempSync(join(tmpdir(), "diligent-pack-"));
  mkdirSync(outdir, { recursive: true });
  try {
    const paths: string[] = [];
    for (const name of names) {
      const directory = join(stage, name);
      await PACKAGES[name](directory);
      paths.push(packDirectory(directory, outdir));
    }
    return paths;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function packDirectory(directory: string, outdir: string): string {
  const command = ["pm", "pack", "--quiet", "--ignore-scripts", "--destination", outdir];
  const pack = Bun.spawnSync([process.execPath, ...command], { cwd: directory });
  if (!pack.success) throw new Error(`bun pm pack: ${pack.stderr}`);
  return resolve(outdir, pack.stdout.toString().trim());
}

if (import.meta.main) {
  const script = {
    name: "pack",
    usage: ["bun run pack [--out DIR]", `DIR: where the packages go; default: ${DEFAULT_OUTPUT}.`],
    options: { out: DEFAULT_OUTPUT },
    async main({ out }: { out: string }) {
      for (const path of await packAll(resolve(out)))
        console.log(`${path}  ${Math.round(Bun.file(path).size / 1024)} KB`);
    },
  };
  process.exitCode = await runBuildScript(script, process.argv.slice(2));
}
