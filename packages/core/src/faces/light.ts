export type { Checkpoints } from "../checkpoint/checkpoints.ts";
export { forgetCheckpoints, listCheckpointSessions, openCheckpoints } from "../checkpoint/load.ts";
export type {
  CheckpointOptions,
  MoveProgress,
  PathVersion,
  Restoration,
  RestoredPath,
  SessionChange,
} from "../checkpoint/types.ts";
export { describeInterruptedRestore } from "../checkpoint/types.ts";
export { findEnvironmentValues, readSecretValues } from "../config/secret-values.ts";
export { describeError, orUsageError, UsageError, unknownModel } from "../harness/errors.ts";
export {
  findNamedSession,
  findSession,
  type SessionFormatter,
  splitEntry,
  withArchivedLast,
  withoutArchived,
} from "../harness/find-session.ts";
export { type DiligentPaths, findDiligentDirProblem, resolvePaths } from "../infrastructure/diligent-dir.ts";
export { nearestName, nearestNames } from "../infrastructure/nearest-name.ts";
export { knowledgeFilePath } from "../infrastructure/paths/knowledge-file.ts";
export { findProjectRoot } from "../infrastructure/paths/project.ts";
export { userStateDirectory } from "../infrastructure/paths/user.ts";
export { type Environment, homeDirectory, now, processEnvironment } from "../infrastructure/runtime.ts";
export { mayContainKey, SecretRedactor } from "../infrastructure/text/secret-redactor.ts";
export { FOREIGN_AGENTS, type ForeignAgent, isForeignAgent } from "../session/history/foreign/types.ts";

/**
 * The part of the library that loads almost nothing: no schema library, no provider, no session reader. Command-line
 * parsing and commands with immediate output use only this.
 */

/** Reads, ranks and writes knowledge; loaded only if there is any, since most sessions start without it. */
export function loadKnowledge(): Promise<typeof import("../knowledge/index.ts")> {
  return import("../knowledge/index.ts");
}

/** Determines whether a project's knowledge is used and may be extended; loaded only if there is any. */
export function loadKnowledgeTrust(): Promise<typeof import("../config/trust.ts")> {
  return import("../config/trust.ts");
}
