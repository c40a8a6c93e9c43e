import { afterAll, onTestFinished } from "bun:test";
import { accessSync, constants, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Screens of tests have 80 columns, and the path of a socket 107 bytes.
const MOST_CHARACTERS = 26;
const SHORT = "/tmp";

/** The directory for temporary files, or the system's where the configured one has too long a path for what tests show. */
export function temporaryBase(): string {
  const configured = tmpdir();
  return configured.length <= MOST_CHARACTERS || !isWritable(SHORT) ? configured : SHORT;
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    // It is missing, or somebody else's.
    return false;
  }
}

/** A fresh directory with a real path; removed after the test, or after the file when it is made outside of one. */
export function makeTempDir(): string {
  const directory = realpathSync(mkdtempSync(join(temporaryBase(), "diligent-test-")));
  const remove = () => removeTree(directory);
  try {
    onTestFinished(remove);
  } catch {
    // Only outside of a test, where a hook of the file does it.
    afterAll(remove);
  }
  return directory;
}

/** Removes also directories that a test has closed to its own user. */
function removeTree(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EACCES")) throw error;
    Bun.spawnSync(["chmod", "-R", "u+rwX", directory]);
    rmSync(directory, { recursive: true, force: true });
  }
}
