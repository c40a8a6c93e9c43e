/** Worktrees of a project, each for one run. */

export type { DiffSize, WorktreeState } from "./worktree-state.ts";
export {
  findAbandonedWorktrees,
  isWorktreeName,
  type RunWorktree,
  type TakenWorktree,
  type WorktreeEnd,
  WorktreeError,
  Worktrees,
} from "./worktrees.ts";
