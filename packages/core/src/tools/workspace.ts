import type { Environment } from "../infrastructure/environment.ts";
import type { CommandBox } from "../infrastructure/processes/shell-box.ts";
import type { FileTracker } from "./file-tracker.ts";

/** Where a session's tools work. All paths are absolute and real. */
export interface Workspace {
  /** The directory relative paths and commands start from. */
  cwd: string;
  /** The project root; equal to `cwd` or above it. */
  root: string;
  /** What was read in this session, so that nothing unseen is overwritten. */
  files: FileTracker;
  /** The session's private temporary directory (0700), made on first use; undefined when none can be made. */
  outputDirectory(): string | undefined;
  /** The environment of this process: programs are looked up in it, children get an allow-listed part of it. */
  environment: Environment;
  /** Names of further variables that the user lets commands have. */
  inheritEnvironment?: readonly string[] | undefined;
  /** How commands run; asked before each one. Left out: as any program of the user's. */
  commandBox?: (() => Promise<CommandBox>) | undefined;
  /** Set in children as `DILIGENT_SESSION_ID`. */
  sessionId: string;
}
