import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  BUILD_TARGETS,
  type BuildTarget,
  chooseTargets,
  findHostTarget,
  type Host,
} from "./build-targets.ts";
import { embedRipgrep, provideRipgrep } from "./embed-ripgrep.ts";
import { runBuildScript } from "./run-build-script.ts";
import { DEFAULT_OUTPUT, PROGRAM_SETTINGS } from "./shipped-program.ts";
import { writeThirdParty } from "./third-party.ts";

/**
 * Builds the program as one file that needs no Bun: `diligent` for this machine, `diligent-TARGET` for
 * others. For another target, the bundler downloads Bun, and `provideRipgrep` downloads ripgrep.
 * @returns its path.
 */
export async function buildExecutable(target: BuildTarget, outdir: string): Promise<string> {
  const isHost = target === findHostTarget(currentHost());
  const outfile = join(outdir, isHost ? "diligent" : `diligent-${target.name}`);
  using ripgrep = provideRipgrep(target);
  mkdirSync(outdir, { recursive: true });
  // Processes that run the old file during the build keep running it.
  const stage = mkdtempSync(join(outdir, ".build-"));
  try {
    const draft = join(stage, "diligent");
    const { metafile } = await Bun.build({
      ...PROGRAM_SETTINGS,
      bytecode: true,
      plugins: [embedRipgrep(ripgrep.binary)],
      compile: {
        ...(!isHost && { target: target.bun }),
        outfile: draft,
        // The working directory may be untrusted: no configuration is loaded from it.
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
    });
    renameSync(draft, outfile);
    writeThirdParty(outdir, metafile, [ripgrep.directory]);
    return outfile;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** This machine. Alpine and similar systems are recognised by the loader of their C library. */
export function currentHost(): Host {
  const isMusl = existsSync("/lib") && readdirSync("/lib").some((name) => name.startsWith("ld-musl-"));
  return { platform: process.platform, arch: process.arch, isMusl };
}

if (import.meta.main) {
  const script = {
    name: "build",
    usage: [
      "bun run build [--target TARGET] [--out DIR]",
      `TARGET: host, all, ${BUILD_TARGETS.map(({ name }) => name).join(", ")}; default: host.`,
      `DIR: where the executables go; default: ${DEFAULT_OUTPUT}.`,
    ],
    options: { target: "host", out: DEFAULT_OUTPUT },
    async main({ target: word, out }: { target: string; out: string }) {
      for (const target of chooseTargets(word, currentHost())) {
        const path = await buildExecutable(target, resolve(out));
        console.log(`${path}  ${Math.round(Bun.file(path).size / 1024 / 1024)} MB`);
      }
    },
  };
  process.exitCode = await runBuildScript(script, process.argv.slice(2));
}
