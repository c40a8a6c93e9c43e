import type { Environment } from "../environment.ts";
import { createChildEnvironment } from "./child-environment.ts";
import { runRipgrep } from "./ripgrep.ts";

/** What is looked for at most; ripgrep gets a `createChildEnvironment` of `environment`. */
export interface ListFilesOptions {
  /** What is listed, absolute and real; the paths are relative to it. */
  directory: string;
  /** The project, absolute and real: programs in it are not run. */
  root: string;
  environment: Environment;
  maxFiles: number;
  signal: AbortSignal;
}

/**
 * The files of a directory and of those below it, in no order, but for hidden ones and what a `.gitignore` names (before
 * `git init` too). Names that are no text of one line are left out.
 *
 * @throws when there is no ripgrep, when it cannot search there, and when `signal` is aborted.
 */
export async function listFiles(options: ListFilesOptions): Promise<string[]> {
  const { directory, root, environment, maxFiles, signal } = options;
  const files: string[] = [];
  const end = await runRipgrep({
    args: ["--files", "--null", "--no-require-git", "--no-messages", "--no-ignore-messages"],
    cwd: directory,
    // No session: nothing is run by anybody's wish but the user's.
    environment: createChildEnvironment({ environment, root, cwd: directory, sessionId: "" }),
    search: { environment, outside: root },
    signal,
    separator: "\0",
    onRecord(record) {
      const path = record.replace(/^\.\//, "");
      if (!/[\p{Cc}\ufffd]/u.test(path)) files.push(path);
      return files.length < maxFiles;
    },
  });
  signal.throwIfAborted();
  if (end.errors !== "") throw new Error(end.errors);
  return files;
}
