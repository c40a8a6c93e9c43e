import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runBuildScript } from "./run-build-script.ts";
import { BUNDLE_FILES, bundleProgram, DEFAULT_OUTPUT } from "./shipped-program.ts";

/**
 * Builds the program as files, replacing an earlier bundle. Other files in the directory stay: executables
 * and packages are built into the same one.
 */
export async function renewBundle(directory: string): Promise<Bun.BuildOutput> {
  for (const name of Object.values(BUNDLE_FILES))
    rmSync(join(directory, name), { recursive: true, force: true });
  const output = await bundleProgram(directory);
  chmodSync(join(directory, BUNDLE_FILES.entry), 0o755);
  return output;
}

if (import.meta.main) {
  const script = {
    name: "bundle",
    usage: ["bun run bundle", `Builds the program as files, into ${DEFAULT_OUTPUT}.`],
    options: {},
    async main() {
      const { outputs } = await renewBundle(DEFAULT_OUTPUT);
      const bytes = outputs.reduce((sum, output) => sum + output.size, 0);
      console.log(`${outputs.length} files, ${Math.round(bytes / 1024)} KB in ${DEFAULT_OUTPUT}`);
    },
  };
  process.exitCode = await runBuildScript(script, process.argv.slice(2));
}
