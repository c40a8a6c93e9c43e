import type { AgentLoopConfig } from "../agent/types.ts";
import type { DiligentPaths } from "../infrastructure/diligent-dir.ts";
import type { Environment } from "../infrastructure/environment.ts";
import type { ContextOptions } from "./context/context-guard.ts";

import type { NewSessionOptions } from "./open-session.ts";

export type { NewSessionOptions as CreateSessionOptions };

/** What a session is held with and where it is kept; paths are absolute and real. */
export interface SessionManagerConfig {
  cwd: string;
  /** Where the project's sessions are; without it there are none, and nothing is written. */
  paths?: DiligentPaths | undefined;
  /** False: earlier sessions can be read, and nothing is written. */
  isSaved?: boolean | undefined;
  /**
   * The environment whose user state directory holds the locks by which processes wait for each other's compactions of
   * a session; without it they do not.
   */
  lockPlace?: Environment | undefined;
  /** `signal`, `record`, `takeSteering`, `sessionId` and `now` are the manager's own. */
  agentConfig: AgentLoopConfig;
  /** For the session it begins with; made by `generateSessionId` when left out. */
  sessionId?: string | undefined;
  /** How it stays within the model's window; `compaction.enabled: false` leaves it alone. */
  context?: ContextOptions | undefined;
}

/** How one run is made. */
export interface RunOptions {
  /** Aborting it ends the run; what there was is kept. */
  signal?: AbortSignal | undefined;
}
