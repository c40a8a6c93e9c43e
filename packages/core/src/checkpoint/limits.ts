/** What is kept, and how much of it. All sizes are bytes. */
export interface CheckpointLimits {
  /** All checkpoints of all projects; the oldest go first. */
  storeBytes: number;
  /** A project with more in it cannot be kept. */
  projectBytes: number;
  /** Files, links and directories. */
  projectEntries: number;
  /** Of a larger file only that it changed is noticed. */
  fileBytes: number;
  /** Once so much lies in one place, the next session begins a new one, so that the old one can go as a whole. */
  generationBytes: number;
}

const MB = 1024 * 1024;

/**
 * Two projects of the largest size fit into the store. Text takes a quarter of its size in it, so that for most people
 * nothing is ever dropped.
 */
export const CHECKPOINT_LIMITS: CheckpointLimits = {
  storeBytes: 2048 * MB,
  projectBytes: 1024 * MB,
  projectEntries: 200_000,
  fileBytes: 50 * MB,
  generationBytes: 512 * MB,
};
