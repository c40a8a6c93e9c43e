import { afterAll, onTestFinished } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh directory with a real path; removed after the test, or after the file when it is made outside of one. */
export function makeTempDir(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "diligent-test-")));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    onTestFinished(remove);
  } catch {
    // Only outside of a test, where a hook of the file does it.
    afterAll(remove);
  }
  return directory;
}
