import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "../measure/process-run.ts";

const REPOSITORY = join(import.meta.dir, "..", "..", "..", "..");
const CLI = join(REPOSITORY, "packages", "cli");

/** The program as contributors start it, from its sources. */
export const CHECKOUT_PROGRAM = join(CLI, "src", "index.ts");

const BUNDLE_PROGRAM = join(CLI, "dist", "diligent.js");

/** A script of our own that is started by the very first line that starts diligent; returns its path. */
export function writeScript(directory: string, text: string): string {
  const [firstLine = ""] = readFileSync(CHECKOUT_PROGRAM, "utf8").split("\n", 1);
  if (!firstLine.startsWith("#!")) throw new Error(`${CHECKOUT_PROGRAM} has no #! line.`);
  const path = join(directory, "script.ts");
  writeFileSync(path, `${firstLine}\n${text}`);
  chmodSync(path, 0o755);
  return path;
}

/** Builds the bundle from the sources as they are now, with the repository's own script; returns its path. */
export async function buildBundle(environment: Readonly<Record<string, string>>): Promise<string> {
  const script = join(CLI, "scripts", "bundle.ts");
  await runProcess({ argv: [process.execPath, script], cwd: REPOSITORY, environment });
  if (!existsSync(BUNDLE_PROGRAM)) throw new Error(`${script} made no ${BUNDLE_PROGRAM}.`);
  return BUNDLE_PROGRAM;
}
