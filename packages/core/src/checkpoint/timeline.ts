import { isSameState, type TreeEntry } from "./entries.ts";
import type { Move, Step } from "./types.ts";

/** The changes of a session that remain after all undos. */
interface RemainingSteps {
  /** The runs whose changes are in effect, the last one last. */
  runs: readonly string[];
  /** The ids of interrupted steps that were not undone; the last one last. */
  cutOffs: readonly string[];
  /** The steps that undid something which `redo` can restore, the last one last. */
  redoable: readonly string[];
}

/** Replays the steps of a session in order. A change by the agent ends the possibility to redo. */
export function replaySteps(steps: readonly Step[]): RemainingSteps {
  let now: RemainingSteps = { runs: [], cutOffs: [], redoable: [] };
  const before = new Map<string, RemainingSteps>();
  for (const step of steps) {
    before.set(step.id, now);
    now = follow(now, step, step.to === undefined ? undefined : before.get(step.to));
  }
  return now;
}

/** @param earlier the state before the step that was restored. */
function follow(now: RemainingSteps, step: Step, earlier: RemainingSteps | undefined): RemainingSteps {
  const { id, kind, run, isCutOff, changes, foreign = [] } = step;
  if (kind === "partial" || step.isRollBack) return now;
  if (kind === "run") {
    if (isCutOff) {
      const isSomething = changes.length + foreign.length > 0;
      return isSomething ? { ...now, cutOffs: [...now.cutOffs, id], redoable: [] } : now;
    }
    if (run === undefined || changes.length === 0) return now;
    return { ...now, runs: now.runs.at(-1) === run ? now.runs : [...now.runs, run], redoable: [] };
  }
  if (kind === "redo") {
    const { runs, cutOffs } = earlier ?? now;
    return { runs, cutOffs, redoable: now.redoable.slice(0, -1) };
  }
  const redoable = [...now.redoable, id];
  // An interrupted step is undone alone, never along with others.
  if (isCutOff) return { ...now, cutOffs: now.cutOffs.filter((each) => each !== step.to), redoable };
  return { ...now, runs: earlier?.runs ?? now.runs, redoable };
}

/** The step before which everything was in effect that the last of `redoable` undid, in any number of attempts. */
export function findRedoTarget(steps: readonly Step[]): Step | undefined {
  const id = replaySteps(steps).redoable.at(-1);
  const step = steps.find((each) => each.id === id);
  return step && firstAttempt(steps, step);
}

/**
 * The first of the attempts that end with a step: the unfinished attempts directly before it with the same target.
 * @param isCounted filters the attempts; all count when left out.
 */
export function firstAttempt(
  steps: readonly Step[],
  last: Step,
  isCounted: (attempt: Step) => boolean = () => true,
): Step {
  // An attempt that was stopped and reverted in between had no effect.
  const stopped = new Set(steps.flatMap((step) => (step.isRollBack ? [step.id, step.to] : [])));
  const isAttempt = (step: Step) => step.kind === "partial" && step.to === last.to && isCounted(step);
  const before = steps.slice(0, steps.indexOf(last));
  const other = before.findLastIndex((step) => !stopped.has(step.id) && !isAttempt(step));
  return before[other + 1] ?? last;
}

/**
 * The last incomplete restoration, if the opposite direction is requested now: it was stopped or interrupted, or a file
 * could not be restored. Only its completed part is reverted then.
 */
export function findHalfDone(steps: readonly Step[], wanted: Move): Step | undefined {
  const last = steps.findLast((step) => step.kind !== "partial" || !(step.isRollBack || hadNoEffect(step)));
  if (last?.kind !== "partial" || last.move === undefined) return undefined;
  return isOpposite(last.move, wanted) ? last : undefined;
}

/** A jump may lead anywhere, and is reverted by a redo. */
export function isOpposite(move: Move, wanted: Move): boolean {
  return wanted !== "jump" && (move === "redo") !== (wanted === "redo");
}

/** True for an attempt that could not restore anything. */
export function hadNoEffect({ kind, changes, isAdopted }: Step): boolean {
  return kind === "partial" && changes.length === 0 && !isAdopted;
}

/** True for a run that has changed files and not reverted everything itself. */
export function hasChanged(steps: readonly Step[], run: string): boolean {
  const own = steps.filter((step) => step.kind === "run" && step.run === run && isCertain(step));
  return planRollBack(own).length > 0;
}

/** The last interrupted step that was not undone. */
export function findCutOffTarget(steps: readonly Step[]): Step | undefined {
  const id = replaySteps(steps).cutOffs.at(-1);
  return steps.find((step) => step.id === id);
}

/** The first step of a run; undefined when it is no longer stored. */
export function firstStepOf(steps: readonly Step[], run: string): Step | undefined {
  return steps.find(
    (step) => isCertain(step) && step.kind === "run" && step.run === run && step.changes.length > 0,
  );
}

/**
 * The step whose start is the state of the project at an entry of the conversation: the one after the last change made
 * before that entry, or the very first. Undefined when nothing was changed since.
 * @param entryIds the entries from the beginning of the conversation to that entry.
 */
export function firstStepAfter(steps: readonly Step[], entryIds: ReadonlySet<string>): Step | undefined {
  const certain = steps.filter(isCertain);
  const isOnPath = ({ kind, entryId }: Step) =>
    kind === "run" && entryId !== undefined && entryIds.has(entryId);
  return certain[certain.findLastIndex(isOnPath) + 1];
}

/**
 * The steps to undo, from the end back to the start of `target`. Interrupted steps are left out; they are undone alone.
 */
export function stepsBackTo(steps: readonly Step[], target: Step): readonly Step[] {
  if (target.isCutOff && target.kind === "run") return [target];
  const from = steps.slice(steps.indexOf(target));
  return target.isCutOff ? from : from.filter(isCertain);
}

/** False for an interrupted step, and for those that undo or redo one. */
function isCertain({ isCutOff }: Step): boolean {
  return isCutOff !== true;
}

/** The planned change of a path. */
export interface PlannedChange {
  path: string;
  /** The state that the session left; in any other state, another process has changed the path since. */
  expected: TreeEntry | undefined;
  target: TreeEntry | undefined;
  /**
   * True when another process has changed the path in between: the target is then the state it left, which includes the
   * session's earlier changes.
   */
  isCut: boolean;
}

/**
 * Plans the way from the end of all steps back to the start of the first. Other processes may have changed paths
 * between two steps: there the states of adjacent steps differ.
 */
export function planRollBack(steps: readonly Step[]): PlannedChange[] {
  const planned = new Map<string, PlannedChange>();
  for (const { changes } of steps.toReversed()) {
    for (const { path, before, after } of changes) {
      const later = planned.get(path);
      if (!later) planned.set(path, { path, expected: after, target: before, isCut: false });
      else if (!later.isCut && isSameState(later.target, after)) later.target = before;
      // The other process has only restored the target state itself.
      else later.isCut = !isSameState(later.target, before);
    }
  }
  return [...planned.values()].filter(
    ({ expected, target, isCut }) => isCut || !isSameState(expected, target),
  );
}
