import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BuildTarget } from "./build-targets.ts";
import { pinnedDependencies, readPackageFile } from "./package-file.ts";
import { CLI_PACKAGE, RIPGREP } from "./shipped-program.ts";

const PLACE_RIPGREP = join(CLI_PACKAGE, "src", "executable", "place-ripgrep.ts");

/** A ripgrep for a target, and what removes it if it was downloaded. */
export interface TargetRipgrep extends Disposable {
  /** The directory of its package. */
  directory: string;
  binary: string;
}

/**
 * The ripgrep of a target: that of this installation, otherwise its package is installed into a temporary
 * directory.
 * @throws Error if it is not available.
 */
export function provideRipgrep({ platform, arch }: BuildTarget): TargetRipgrep {
  const name = `${RIPGREP}-${platform}-${arch}`;
  const main = dirname(Bun.resolveSync(`${RIPGREP}/package.json`, CLI_PACKAGE));
  const installed = join(main, "..", "..", name);
  if (existsSync(installed)) return { ...placesIn(installed), [Symbol.dispose]() {} };
  const directory = mkdtempSync(join(tmpdir(), "diligent-ripgrep-"));
  const dispose = () => rmSync(directory, { recursive: true, force: true });
  const [version = ""] = Object.values(pinnedDependencies(readPackageFile(CLI_PACKAGE), [RIPGREP]));
  writeFileSync(join(directory, "package.json"), JSON.stringify({ dependencies: { [name]: version } }));
  const command = ["install", "--ignore-scripts", "--linker=hoisted", `--os=${platform}`, `--cpu=${arch}`];
  const install = Bun.spawnSync([process.execPath, ...command], { cwd: directory });
  if (!install.success) {
    dispose();
    throw new Error(`${name} could not be installed: ${install.stderr}`);
  }
  return { ...placesIn(join(directory, "node_modules", name)), [Symbol.dispose]: dispose };
}

function placesIn(directory: string): { directory: string; binary: string } {
  return { directory, binary: join(directory, "bin", "rg") };
}

/** Embeds ripgrep into an executable, replacing the package that would look for it next to itself. */
export function embedRipgrep(binary: string): Bun.BunPlugin {
  const sha256 = new Bun.CryptoHasher("sha256").update(readFileSync(binary)).digest("hex");
  const contents = `
    import embeddedPath from ${JSON.stringify(binary)} with { type: "file" };
    import { tmpdir } from "node:os";
    import { placeRipgrep } from ${JSON.stringify(PLACE_RIPGREP)};
    const temporaryDirectory = tmpdir();
    export const rgPath = placeRipgrep({
      embeddedPath, sha256: "${sha256}", environment: process.env, temporaryDirectory,
    });
  `;
  return {
    name: "embed-ripgrep",
    setup(build) {
      const namespace = "embedded";
      build.onResolve({ filter: new RegExp(`^${RIPGREP}$`) }, ({ path }) => ({ path, namespace }));
      build.onLoad({ filter: /./, namespace }, () => ({ contents, loader: "js" }));
    },
  };
}
