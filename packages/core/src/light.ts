/**
 * The part of the library that loads nothing heavy: no schema library, no provider. What answers at once, such as a
 * list of sessions, is made of these.
 */
export { now } from "./infrastructure/clock.ts";
export { type DiligentPaths, resolvePaths } from "./infrastructure/diligent-dir.ts";
export { type Environment, homeDirectory, processEnvironment } from "./infrastructure/environment.ts";
export { nearestName, nearestNames } from "./infrastructure/nearest-name.ts";
export { findProjectRoot } from "./infrastructure/places/project-root.ts";
export { knowledgeFilePath } from "./knowledge/knowledge-file.ts";
export { loadKnowledge } from "./knowledge/load-knowledge.ts";
export { listSessions, listUnreadableSessions, type UnreadableSession } from "./session/list-sessions.ts";
export type { SessionInfo } from "./session/types.ts";
