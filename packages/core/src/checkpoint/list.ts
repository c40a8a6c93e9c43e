import { rmSync } from "node:fs";
import { join } from "node:path";
import { isRootOf } from "./open-history.ts";
import { isNotedDown } from "./store/base.ts";
import { listGenerations, listStoreNames, sessionOf, sessionsOf } from "./store/location.ts";
import {
  findOpenTurn,
  readSegment,
  readSegments,
  type Segment,
  stepsOf,
  unfinishedRestorings,
} from "./store/log.ts";
import { findHalfDone, replaySteps } from "./timeline.ts";
import type { CheckpointOptions, Move } from "./types.ts";
import { findCheckpointLocation } from "./workplace.ts";

/** A session that has changed something. */
export interface CheckpointSession {
  sessionId: string;
  /** When it changed something last; milliseconds since the epoch. */
  changedAt: number;
  canUndo: boolean;
  canRedo: boolean;
}

/** The sessions of a project that have checkpoints, the last changed first. */
export function listSessionsOf(
  options: Pick<CheckpointOptions, "root" | "environment">,
): CheckpointSession[] {
  const place = findCheckpointLocation(options);
  if (!place) return [];
  const generations = listGenerations(place.project);
  const ids = new Set(generations.flatMap(listSessionIds));
  return [...ids]
    .map((sessionId) => describeSession(options.root, generations, sessionId))
    .sort((left, right) => right.changedAt - left.changedAt);
}

/** It is still running, or was interrupted and has not been processed yet. */
function hasOpenTurn(segments: readonly Segment[]): boolean {
  const open = segments.map(findOpenTurn).filter((turn) => turn !== undefined);
  return open.some((turn) => !isNotedDown(turn, segments));
}

/** As their logs give them: a directory may be called otherwise. */
function listSessionIds(generation: string): string[] {
  const sessions = sessionsOf(generation);
  return listStoreNames(sessions).flatMap((directory) => {
    const log = listStoreNames(join(sessions, directory)).find((name) => name.endsWith(".jsonl"));
    return (log && readSegment(join(sessions, directory, log))?.header.sessionId) ?? [];
  });
}

function describeSession(root: string, generations: readonly string[], sessionId: string): CheckpointSession {
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
    changedAt: Math.max(0, ...times),
    // A turn that was cut off is noted down when it is asked for.
    canUndo: isHere && (runs.length + cutOffs.length > 0 || isHalf("undo") || hasOpenTurn(segments)),
    canRedo: isHere && (redoable.length > 0 || isHalf("redo")),
  };
}

/** Forgets what a session has changed: nothing of it can be taken back any more. What was kept goes when its place does. */
export function forgetSessionOf(
  options: Pick<CheckpointOptions, "root" | "environment" | "sessionId">,
): void {
  const place = findCheckpointLocation(options);
  for (const generation of place ? listGenerations(place.project) : [])
    rmSync(sessionOf(generation, options.sessionId), { recursive: true, force: true });
}
