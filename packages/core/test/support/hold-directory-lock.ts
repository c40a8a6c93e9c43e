/**
 * Run as a process of its own: DIRECTORY FILE CONTENT. It takes the lock that edits take, says so, waits for a line, and
 * then replaces the file as an edit does.
 */
import { readSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { withDirectoryLock } from "../../src/infrastructure/fs/directory-lock.ts";

const [directory = "", name = "", content = ""] = process.argv.slice(2);
await withDirectoryLock(directory, () => {
  writeSync(1, "held\n");
  readSync(0, Buffer.alloc(1));
  writeFileSync(join(directory, ".draft"), content);
  renameSync(join(directory, ".draft"), join(directory, name));
});
