import { isSameState, type TreeEntry } from "./entries.ts";
import type { Move, Step } from "./types.ts";

/** What remains of a session's work after all undos. */
interface Standing {
  /** The runs whose changes stand, the last one last. */
  runs: readonly string[];
  /** The steps that were cut off and were not taken back, by their ids; the last one last. */
  cutOffs: readonly string[];
  /** The steps that took something back which `redo` can bring again, the last one last. */
  redoable: readonly string[];
}

/** Follows the steps of a session, in order. A change by the agent ends what can be done again. */
export function replaySteps(steps: readonly Step[]): Standing {
  let now: Standing = { runs: [], cutOffs: [], redoable: [] };
  const before = new Map<string, Standing>();
  for (const step of steps) {
    before.set(step.id, now);
    now = follow(now, step, step.to === undefined ? undefined : before.get(step.to));
  }
  return now;
}

/** @param earlier what stood before the step that was gone back to. */
function follow(now: Standing, step: Step, earlier: Standing | undefined): Standing {
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
  // One that was cut off is taken back by itself, and never along with others.
  if (isCutOff) return { ...now, cutOffs: now.cutOffs.filter((each) => each !== step.to), redoable };
  return { ...now, runs: earlier?.runs ?? now.runs, redoable };
}

/** The step before which everything stood that the last of `redoable` has taken back, in whatever number of attempts. */
export function findRedoTarget(steps: readonly Step[]): Step | undefined {
  const id = replaySteps(steps).redoable.at(-1);
  const step = steps.find((each) => each.id === id);
  return step && firstAttempt(steps, step);
}

/**
 * The first of the attempts of which a step is the last: those right before it that led to the same and were not finished.
 * @param isCounted which of them count; all when left out.
 */
export function firstAttempt(
  steps: readonly Step[],
  last: Step,
  isCounted: (attempt: Step) => boolean = () => true,
): Step {
  // What was stopped and put back in between came to nothing.
  const stopped = new Set(steps.flatMap((step) => (step.isRollBack ? [step.id, step.to] : [])));
  const isAttempt = (step: Step) => step.kind === "partial" && step.to === last.to && isCounted(step);
  const before = steps.slice(0, steps.indexOf(last));
  const other = before.findLastIndex((step) => !stopped.has(step.id) && !isAttempt(step));
  return before[other + 1] ?? last;
}

/**
 * The last incomplete restoration, if the other direction is requested now: it was stopped or interrupted, or a
 * file could not be restored. Only the completed part is meant then.
 */
export function findHalfDone(steps: readonly Step[], wanted: Move): Step | undefined {
  const last = steps.findLast((step) => step.kind !== "partial" || !(step.isRollBack || isInVain(step)));
  if (last?.kind !== "partial" || last.move === undefined) return undefined;
  return isOpposite(last.move, wanted) ? last : undefined;
}

/** A jump may lead anywhere, and is taken back by a redo. */
export function isOpposite(move: Move, wanted: Move): boolean {
  return wanted !== "jump" && (move === "redo") !== (wanted === "redo");
}

/** True for an attempt in which nothing at all could be done. */
export function isInVain({ kind, changes, isAdopted }: Step): boolean {
  return kind === "partial" && changes.length === 0 && !isAdopted;
}

/** True for a run that has not put back everything itself. */
export function hasChanged(steps: readonly Step[], run: string): boolean {
  const own = steps.filter((step) => step.kind === "run" && step.run === run && isCertain(step));
  return planRollBack(own).length > 0;
}

/** The last step that was cut off and was not taken back. */
export function findCutOffTarget(steps: readonly Step[]): Step | undefined {
  const id = replaySteps(steps).cutOffs.at(-1);
  return steps.find((step) => step.id === id);
}

/** The first step of a run; undefined when it is no longer kept. */
export function firstStepOf(steps: readonly Step[], run: string): Step | undefined {
  return steps.find(
    (step) => isCertain(step) && step.kind === "run" && step.run === run && step.changes.length > 0,
  );
}

/**
 * The step whose beginning is the project as it was at a place of the conversation: the one behind the last change that was
 * made on the way there, or the very first. Undefined when nothing was done since.
 * @param entryIds the entries from the beginning of the conversation to that place.
 */
export function firstStepBehind(steps: readonly Step[], entryIds: ReadonlySet<string>): Step | undefined {
  const certain = steps.filter(isCertain);
  const isOnTheWay = ({ kind, entryId }: Step) =>
    kind === "run" && entryId !== undefined && entryIds.has(entryId);
  return certain[certain.findLastIndex(isOnTheWay) + 1];
}

/**
 * The steps that are to be undone, from their end, to come to the beginning of `target`. What was cut off is left out, and
 * is taken back alone.
 */
export function stepsBackTo(steps: readonly Step[], target: Step): readonly Step[] {
  if (target.isCutOff && target.kind === "run") return [target];
  const from = steps.slice(steps.indexOf(target));
  return target.isCutOff ? from : from.filter(isCertain);
}

/** False for a step that was cut off, and for those that take back or bring back one. */
function isCertain({ isCutOff }: Step): boolean {
  return isCutOff !== true;
}

/** What has to become of a path. */
export interface PlannedChange {
  path: string;
  /** What the session left there; what is something else now, somebody else has changed since. */
  expected: TreeEntry | undefined;
  target: TreeEntry | undefined;
  /**
   * True when somebody else has changed it in between: the target is then what they made of it, and what the session did
   * before that stays in it.
   */
  isCut: boolean;
}

/**
 * What takes the project from the end of all steps back to the beginning of the first. Between two steps others may
 * have changed something: that is found where the steps do not fit together.
 */
export function planRollBack(steps: readonly Step[]): PlannedChange[] {
  const planned = new Map<string, PlannedChange>();
  for (const { changes } of steps.toReversed()) {
    for (const { path, before, after } of changes) {
      const later = planned.get(path);
      if (!later) planned.set(path, { path, expected: after, target: before, isCut: false });
      else if (!later.isCut && isSameState(later.target, after)) later.target = before;
      // What others did came to nothing else than what is to be restored anyway.
      else later.isCut = !isSameState(later.target, before);
    }
  }
  return [...planned.values()].filter(
    ({ expected, target, isCut }) => isCut || !isSameState(expected, target),
  );
}
