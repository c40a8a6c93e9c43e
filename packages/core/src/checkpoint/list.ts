import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { listNames } from "../infrastructure/fs/stat.ts";
import { forgetLosses } from "./loss-log.ts";
import { isRootOf } from "./open-history.ts";
import { isRecordedTurn } from "./store/base.ts";
import { listGenerations, sessionOf, sessionsOf } from "./store/location.ts";
import {
  findOpenTurn,
  readSegment,
  readSegments,
  type Segment,
  stepsOf,
  unfinishedRestorings,
} from "./store/log.ts";
import { findHalfDone, replaySteps } from "./timeline.ts";
import type { CheckpointOptions, CheckpointScope, Move } from "./types.ts";
import { findCheckpointLocation } from "./workplace.ts";

/** A session that has changed files. */
export interface CheckpointSession {
  sessionId: string;
  /** Where its changes are recorded; a session may have both. */
  scope: CheckpointScope;
  /** The time of its last change; milliseconds since the epoch. */
  changedAt: number;
  canUndo: boolean;
  canRedo: boolean;
}

/** The sessions of a project that have checkpoints, the last changed first. */
export function listSessionsOf(
  options: Pick<CheckpointOptions, "root" | "environment">,
): CheckpointSession[] {
  return SCOPES.flatMap((scope) => {
    const location = findCheckpointLocation({ ...options, scope });
    const generations = location ? listGenerations(location.project) : [];
    const ids = new Set(generations.flatMap(listSessionIds));
    return [...ids].map((sessionId) => describeSession(options.root, generations, { sessionId, scope }));
  }).sort((left, right) => right.changedAt - left.changedAt);
}

const SCOPES: readonly CheckpointScope[] = ["project", "repositories"];

/** The session is still running, or was interrupted and not recovered yet. */
function hasOpenTurn(segments: readonly Segment[]): boolean {
  const open = segments.map(findOpenTurn).filter((turn) => turn !== undefined);
  return open.some((turn) => !isRecordedTurn(turn, segments));
}

/** The ids from the logs: a directory may have another name. */
function listSessionIds(generation: string): string[] {
  const sessions = sessionsOf(generation);
  return listNames(sessions).flatMap((directory) => {
    const log = listNames(join(sessions, directory)).find((name) => name.endsWith(".jsonl"));
    return (log && readSegment(join(sessions, directory, log))?.header.sessionId) ?? [];
  });
}

function describeSession(
  root: string,
  generations: readonly string[],
  { sessionId, scope }: Pick<CheckpointSession, "sessionId" | "scope">,
): CheckpointSession {
  const segments = readSegments(generations, sessionId);
  const steps = stepsOf(segments);
  const { runs, cutOffs, redoable } = replaySteps(steps);
  const isHere = isRootOf(root, segments);
  const isUnfinished = unfinishedRestorings(segments).current.length > 0;
  const isHalf = (move: Move) => isUnfinished || findHalfDone(steps, move) !== undefined;
  const times = segments.flatMap(({ lines }) =>
    lines.flatMap((line) => {
      if (line.type === "step") return [line.step.at];
      return line.type === "open" ? [line.open.at] : [];
    }),
  );
  return {
    sessionId,
    scope,
    changedAt: Math.max(0, ...times),
    // An interrupted turn is recorded when undo is requested.
    canUndo: isHere && (runs.length + cutOffs.length > 0 || isHalf("undo") || hasOpenTurn(segments)),
    canRedo: isHere && (redoable.length > 0 || isHalf("redo")),
  };
}

/**
 * Deletes the logs of a session, so that its changes can no longer be undone. Its contents are deleted with their
 * generation.
 */
export async function forgetSessionOf(
  options: Pick<CheckpointOptions, "root" | "environment" | "sessionId">,
): Promise<void> {
  for (const scope of SCOPES) {
    const location = findCheckpointLocation({ ...options, scope });
    for (const generation of location ? listGenerations(location.project) : [])
      rmSync(sessionOf(generation, options.sessionId), { recursive: true, force: true });
    if (location && existsSync(location.lossLog)) await forgetLosses(location.lossLog, options.sessionId);
  }
}
