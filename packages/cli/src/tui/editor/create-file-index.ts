import { listFiles } from "@diligent/core/interactive";
import { type Environment, now } from "@diligent/core/run";
import { FileIndex } from "./file-index.ts";

// Ripgrep lists them in a tenth of a second; beyond them a search by fuzzy name finds nothing any more.
const MAX_FILES = 20_000;

/** The files below a working directory, but for hidden and ignored ones. All paths absolute and real. */
export function createFileIndex({
  cwd,
  root,
  environment,
}: {
  cwd: string;
  root: string;
  environment: Environment;
}): FileIndex {
  return new FileIndex({
    list: (signal) => listFiles({ directory: cwd, root, environment, maxFiles: MAX_FILES, signal }),
    now,
  });
}
