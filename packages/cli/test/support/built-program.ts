import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { bundleProgram, CLI_PACKAGE, CORE_PACKAGE, REPOSITORY } from "../../scripts/shipped-program.ts";

const BUILT = join(import.meta.dir, "..", "dist");
const ENTRY = "diligent.js";
// Longer than any test run, which may still use what it has built.
const KEPT_MS = 3_600_000;

/**
 * The program as it is shipped, built from the current sources: it starts in half the time of the checkout,
 * and is what users run. Built once, and again after a change.
 * @returns its path.
 */
export async function buildProgram(): Promise<string> {
  const directory = join(BUILT, fingerprint());
  const entry = join(directory, ENTRY);
  if (existsSync(entry)) return entry;
  removeOld();
  mkdirSync(BUILT, { recursive: true });
  const unfinished = join(BUILT, `unfinished-${process.pid}-${Date.now()}`);
  await bundleProgram(unfinished);
  chmodSync(join(unfinished, ENTRY), 0o755);
  try {
    renameSync(unfinished, directory);
  } catch (error) {
    // Another process built the same faster.
    if (!existsSync(entry)) throw error;
    rmSync(unfinished, { recursive: true });
  }
  return entry;
}

/** Differs whenever a file that the program is built from differs. */
function fingerprint(): string {
  const hash = new Bun.CryptoHasher("sha256");
  const sources = [
    join(CORE_PACKAGE, "src"),
    ...["src", "docs", "scripts"].map((name) => join(CLI_PACKAGE, name)),
  ];
  for (const directory of sources) {
    for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()) {
      hash.update(describe(directory, name));
    }
  }
  return hash.update(describe(REPOSITORY, "bun.lock")).digest("hex").slice(0, 16);
}

function describe(directory: string, name: string): string {
  const { mtimeMs, size } = statSync(join(directory, name));
  return `${name}\0${mtimeMs}\0${size}\n`;
}

function removeOld(): void {
  if (!existsSync(BUILT)) return;
  for (const name of readdirSync(BUILT)) {
    const path = join(BUILT, name);
    if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}
