/** Worktrees of a project, each for one run. */

export {
  findAbandonedWorktrees,
  isWorktreeName,
  type RunWorktree,
  type TakenWorktree,
  type WorktreeEnd,
  WorktreeError,
  Worktrees,
} from "./worktrees.ts";
