/**
 * The part of the library that loads next to nothing: no schema library, no provider, nothing that reads a session. What
 * looks at a command line, and what answers at once, is made of these.
 */
export type { Checkpoints } from "./checkpoint/checkpoints.ts";
export { describeHalfMove } from "./checkpoint/describe-half-move.ts";
export { forgetCheckpoints, listCheckpointSessions, openCheckpoints } from "./checkpoint/load-checkpoints.ts";
export type {
  CheckpointOptions,
  MoveProgress,
  PathVersion,
  Restoration,
  RestoredPath,
  SessionChange,
} from "./checkpoint/types.ts";
export { now } from "./infrastructure/clock.ts";
export { type DiligentPaths, findDiligentDirObstacle, resolvePaths } from "./infrastructure/diligent-dir.ts";
export { type Environment, homeDirectory, processEnvironment } from "./infrastructure/environment.ts";
export { nearestName, nearestNames } from "./infrastructure/nearest-name.ts";
export { findProjectRoot } from "./infrastructure/places/project-root.ts";
export { userStateDirectory } from "./infrastructure/places/user-directories.ts";
export { knowledgeFilePath } from "./knowledge/knowledge-file.ts";
export { loadKnowledge } from "./knowledge/load-knowledge.ts";
