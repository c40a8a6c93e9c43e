/** The built-in tools, the policy that decides about their calls, and the sandbox in which commands run. */
export { GrantStore, type ScopedGrant } from "./approval/grant-store.ts";
export type { GrantLocation } from "./approval/grants.ts";
export { decideApproval, selectOfferedTools } from "./approval/policy.ts";
export { SessionTempDir } from "./infrastructure/fs/state-files.ts";
export { endAllProcesses } from "./infrastructure/process/all-processes.ts";
export {
  describeSandbox,
  type NeededAnswer,
  type NetworkOptions,
  type SandboxOptions,
  SessionSandbox,
} from "./sandbox/index.ts";
export { createAddKnowledgeTool, createTools } from "./tools/index.ts";
export { type FileChange, FileTracker } from "./tools/workspace.ts";
