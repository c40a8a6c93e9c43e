import { afterEach } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** A fresh directory with a real path, removed after the test. */
export function makeTempDir(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "diligent-test-")));
  made.push(directory);
  return directory;
}
