import { existsSync } from "node:fs";
import type { Checkpoints } from "./checkpoints.ts";
import type { CheckpointSession } from "./list.ts";
import { checkpointsDirectory, lossLogOf } from "./store/location.ts";
import type { CheckpointOptions } from "./types.ts";

/** Opens a session's checkpoints. Their code is loaded here, since most of a conversation works without it. */
export async function openCheckpoints(options: CheckpointOptions): Promise<Checkpoints> {
  const { Checkpoints } = await import("./checkpoints.ts");
  return new Checkpoints(options);
}

/**
 * What earlier runs took away from the project's repositories and is still missing, in a sentence; undefined if nothing
 * is. As a rule it only looks for one file.
 */
export async function findMissingHistory({
  root,
  environment,
  sessionId,
}: Pick<CheckpointOptions, "root" | "environment" | "sessionId">): Promise<string | undefined> {
  const checkpoints = checkpointsDirectory(environment);
  const losses = checkpoints && lossLogOf(checkpoints, root);
  if (losses === undefined || !existsSync(losses)) return undefined;
  const { describeMissing } = await import("./loss-log.ts");
  return describeMissing(losses, { root, sessionId });
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
  await forgetSessionOf(options);
}
