/**
 * The part of the library that loads next to nothing: no schema library, no provider, nothing that reads a session. What
 * looks at a command line, and what answers at once, is made of these.
 */
export { now } from "./infrastructure/clock.ts";
export { type DiligentPaths, resolvePaths } from "./infrastructure/diligent-dir.ts";
export { type Environment, homeDirectory, processEnvironment } from "./infrastructure/environment.ts";
export { nearestName, nearestNames } from "./infrastructure/nearest-name.ts";
export { findProjectRoot } from "./infrastructure/places/project-root.ts";
export { knowledgeFilePath } from "./knowledge/knowledge-file.ts";
export { loadKnowledge } from "./knowledge/load-knowledge.ts";
