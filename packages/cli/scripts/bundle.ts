import { chmodSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { runBuildScript } from "./run-build-script.ts";
import { BUNDLE_FILES, bundleProgram, DEFAULT_OUTPUT } from "./shipped-program.ts";

/**
 * Builds the program as files, replacing an earlier bundle. Other files in the directory stay: executables
 * and packages are built into the same one.
 */
export async function renewBundle(directory: string): Promise<void> {
  for (const name of Object.values(BUNDLE_FILES))
    rmSync(join(directory, name), { recursive: true, force: true });
  await bundleProgram(directory);
  chmodSync(join(directory, BUNDLE_FILES.entry), 0o755);
}

function listFiles(path: string): string[] {
  return statSync(path).isFile() ? [path] : readdirSync(path).map((name) => join(path, name));
}

if (import.meta.main) {
  const script = {
    name: "bundle",
    usage: ["bun run bundle", `Builds the program as files, into ${DEFAULT_OUTPUT}.`],
    options: {},
    async main() {
      await renewBundle(DEFAULT_OUTPUT);
      const files = Object.values(BUNDLE_FILES).flatMap((name) => listFiles(join(DEFAULT_OUTPUT, name)));
      const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
      console.log(`${files.length} files, ${Math.round(bytes / 1024)} KB in ${DEFAULT_OUTPUT}`);
    },
  };
  process.exitCode = await runBuildScript(script, process.argv.slice(2));
}
