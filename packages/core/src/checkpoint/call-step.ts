import { monotonicMs, now } from "../infrastructure/clock.ts";
import { randomHex } from "../infrastructure/random-hex.ts";
import { findStats } from "../infrastructure/reading/find-stats.ts";
import { splitChanges } from "./overlap.ts";
import { readRootIdentity } from "./root-identity.ts";
import type { Step } from "./timeline/types.ts";
import type { ProjectState } from "./tree/project-state.ts";
import type { TreeChange } from "./tree-entry.ts";
import type { CheckpointOptions } from "./types.ts";

// A line in what is said to a person.
const MAX_UNSEEN = 20;

/** A call that is about to change something. */
export interface UpcomingCall {
  /** The run that it belongs to. */
  run: string;
  /** Of the session. */
  entryId: string | undefined;
  /** The only path that it changes, where it is known; relative to the project. */
  written?: string | undefined;
}

/** A call that goes on. */
export interface OpenCall extends UpcomingCall {
  begunAt: number;
  begunMs: number;
  /** Of the project's own directory. */
  rootMode: number | undefined;
}

/** @param root the project. */
export function openCall(call: UpcomingCall, root: string): OpenCall {
  return { ...call, begunAt: now(), begunMs: monotonicMs(), rootMode: readMode(root) };
}

/** What was found when a call had ended, and where. */
export interface CallEnd extends Pick<CheckpointOptions, "root" | "sessionId"> {
  /** The directory of the project's checkpoints. */
  project: string;
  /** The time for its line in the log. */
  at: number;
  /** Everything that has changed since the call began. */
  changes: readonly TreeChange[];
  state: ProjectState;
  /** True when there is more than can be kept. */
  isTooLarge: boolean;
}

/** What a call has done, for the log. */
export function toStep(call: OpenCall, { at, root, state, isTooLarge, ...end }: CallEnd): Step {
  const { begunAt, run, entryId } = call;
  const span = { project: end.project, root, sessionId: end.sessionId, begunAt, written: call.written };
  const { changes, foreign, written } = splitChanges(end.changes, span);
  return {
    ...{ id: randomHex(6), at, kind: "run", run, entryId, changes },
    ...(foreign.length > 0 && { foreign }),
    ...(isTooLarge && { isTooLarge }),
    ...(written !== undefined && { written }),
    ...(written === undefined && changes.length > 0 && describeReach(call, state)),
    ...(written === undefined && describeTouched(state)),
    ...(readMode(root) !== call.rootMode && { isRootChanged: true }),
    rootIdentity: readRootIdentity(root),
  };
}

/** How far a call may have reached that could change anything. */
function describeReach({ begunMs }: OpenCall, { caches }: ProjectState) {
  const unseen = caches.slice(0, MAX_UNSEEN);
  return { callMs: Math.round(monotonicMs() - begunMs), ...(unseen.length > 0 && { unseen }) };
}

function describeTouched(state: ProjectState): { touched?: readonly string[] } {
  const touched = state.touched.slice(0, MAX_UNSEEN);
  return touched.length > 0 ? { touched } : {};
}

function readMode(root: string): number | undefined {
  return findStats(root)?.mode;
}
