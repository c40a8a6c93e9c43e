import type { Checkpoints } from "./checkpoints.ts";
import type { CheckpointSession } from "./list.ts";
import type { CheckpointOptions } from "./types.ts";

/** Opens a session's checkpoints. Their code is loaded here, since most of a conversation works without it. */
export async function openCheckpoints(options: CheckpointOptions): Promise<Checkpoints> {
  const { Checkpoints } = await import("./checkpoints.ts");
  return new Checkpoints(options);
}

/** The sessions of a project that have checkpoints, the last changed first. */
export async function listCheckpointSessions(
  options: Pick<CheckpointOptions, "root" | "environment">,
): Promise<CheckpointSession[]> {
  const { listSessionsOf } = await import("./list.ts");
  return listSessionsOf(options);
}

/** Deletes the checkpoints of a deleted session. @throws errors of the file system. */
export async function forgetCheckpoints(
  options: Pick<CheckpointOptions, "root" | "environment" | "sessionId">,
): Promise<void> {
  const { forgetSessionOf } = await import("./list.ts");
  forgetSessionOf(options);
}
