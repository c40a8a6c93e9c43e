import { existsSync } from "node:fs";
import { StoppedError, TimeSlicer } from "../infrastructure/async.ts";
import { pathKind } from "../infrastructure/fs/stat.ts";
import { now, randomHex } from "../infrastructure/runtime.ts";
import { isOfRepository, isSameState, type TreeEntry } from "./entries.ts";
import { forgetLosses } from "./loss-log.ts";
import {
  BusySessionError,
  findWorker,
  type OpenedSession,
  type OpeningOptions,
  type OwnWork,
  withMoveLock,
  withOpenedSession,
} from "./open-history.ts";
import { findDisplacedRefs } from "./restore/displaced-refs.ts";
import {
  type EvaluateOptions,
  type Evaluation,
  evaluateChange,
  type Present,
  readEntryAt,
} from "./restore/evaluate-change.ts";
import {
  adoptRestoring,
  MadeDirectory,
  planRestoring,
  type RestoredPaths,
  restoreChanges,
} from "./restore/restore.ts";
import type { BlobStore } from "./store/blobs.ts";
import { listGenerations } from "./store/location.ts";
import {
  findCutOffTarget,
  findHalfDone,
  findRedoTarget,
  firstAttempt,
  firstStepAfter,
  firstStepOf,
  hadNoEffect,
  hasChanged,
  type PlannedChange,
  planRollBack,
  replaySteps,
  stepsBackTo,
} from "./timeline.ts";
import type {
  CheckpointOptions,
  DisplacedRef,
  Move,
  MoveOptions,
  PathState,
  PathVersion,
  Restoration,
  RestoredPath,
  Restoring,
  SessionChange,
  Step,
} from "./types.ts";
import { type CheckpointLocation, readRootIdentity } from "./workplace.ts";

// A tool call holds the lock while it scans the project; a second undo must fail soon.
const LOCK_WAIT_MS = 2_000;

/**
 * The changes of a session, and how to undo them. Everything is read again each time: other processes may have
 * continued.
 */
export class History {
  constructor(
    private readonly location: CheckpointLocation,
    private readonly options: CheckpointOptions,
    private readonly own: OwnWork = {},
  ) {}

  /**
   * Undoes the changes of the last run that is not undone. Undefined if there is none. If none of its changes can be
   * undone, it remains the last one, and the next undo continues with the run before. An incomplete redo is reverted
   * first.
   * @throws BusySessionError while another process works on the session, OtherProjectError, and errors of the store.
   */
  undo(options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("undo", options, (steps) => {
      if (options.isCutOff) return [findCutOffTarget(steps)];
      const runs = replaySteps(steps).runs.filter((run) => hasChanged(steps, run));
      return runs.map((run) => firstStepOf(steps, run)).reverse();
    });
  }

  /** Redoes the last undo, even if it was incomplete. Undefined if there is nothing to redo. @throws like `undo`. */
  redo(options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("redo", options, (steps) => [findRedoTarget(steps)]);
  }

  /**
   * Restores the files to their state at an entry of the conversation. Undefined when they are in that state.
   * @param entryIds the entries from the beginning of the conversation to that entry.
   * @throws like `undo`.
   */
  jump(entryIds: ReadonlySet<string>, options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("jump", options, (steps) => {
      const step = firstStepAfter(steps, entryIds);
      const isThere = !step || planRollBack(stepsBackTo(steps, step)).length === 0;
      // A jump that was interrupted after its last change still has to be recorded.
      return [isThere && steps.at(-1)?.to !== step?.id ? undefined : step];
    });
  }

  /**
   * The paths that this session has changed, with their state before and now, sorted; changes of a running call are not
   * included. Undefined when the session is unknown.
   */
  changes(): Promise<SessionChange[] | undefined> {
    const reading = ({ steps, evaluateOptions }: OpenedSession) => readVersions(steps, evaluateOptions);
    return withOpenedSession(this.opening({ isReading: true }), reading);
  }

  /**
   * What is needed to make the project as it was at an entry of the conversation: the paths that this session has changed
   * since, without git's own. Undefined when the session is unknown.
   * @param entryIds the entries from the beginning of the conversation to that entry.
   */
  statesAt(entryIds: ReadonlySet<string>): Promise<PathState[] | undefined> {
    const reading = async ({ steps, evaluateOptions: { store } }: OpenedSession): Promise<PathState[]> => {
      const step = firstStepAfter(steps, entryIds);
      const planned = step ? planRollBack(stepsBackTo(steps, step)) : [];
      return planned
        .filter(({ path }) => !isOfRepository(path))
        .map(({ path, target }) => ({ path, version: toVersion(target, store) }));
    };
    return withOpenedSession(this.opening({ isReading: true }), reading);
  }

  private move(
    move: Move,
    options: MoveOptions,
    findTargets: (steps: readonly Step[]) => readonly (Step | undefined)[],
  ): Promise<Restoration | undefined> {
    const { isDryRun: isReading = false, signal } = options;
    // Without any recording, not even a lock file is created.
    if (listGenerations(this.location.project).length === 0) return Promise.resolve(undefined);
    const startedAt = now();
    const refusal = "Another undo or redo is running in this project. Try again when it is done.";
    return withMoveLock(this.location.project, { waitMs: LOCK_WAIT_MS, refusal }, (hadToWait) =>
      withOpenedSession(this.opening({ isReading, move, signal }), (session) => {
        // When two processes ask for the same undo at the same time, only one performs it.
        const last = session.steps.at(-1);
        if (hadToWait && last && last.kind !== "run" && last.at >= startedAt)
          throw new BusySessionError(refusal);
        return this.moveOpened(move, options, { session, findTargets });
      }),
    ).catch((error: unknown) => {
      // Until a file is restored, nothing has changed.
      if (error instanceof StoppedError) return toStoppedRestoration(move);
      throw error;
    });
  }

  private opening(what: Pick<OpeningOptions, "isReading" | "move" | "signal">): OpeningOptions {
    return { location: this.location, options: this.options, own: this.own, ...what };
  }

  private async moveOpened(
    move: Move,
    options: MoveOptions,
    {
      session,
      findTargets,
    }: { session: OpenedSession; findTargets(steps: readonly Step[]): readonly (Step | undefined)[] },
  ): Promise<Restoration | undefined> {
    const worker = findWorker(session.segments, this.own);
    if (worker !== undefined) throw new BusySessionError(`${worker} is working in this session.`);
    const turned = findHalfDone(session.steps, move);
    const targets = turned ? [turned] : findTargets(session.steps).filter((target) => target !== undefined);
    const begin = (target: Step) => (turned ? firstAttempt(session.steps, turned) : target);
    const chosen = await chooseTarget(targets, session, { ...options, begin });
    const { target, evaluated } = chosen ?? { target: undefined, evaluated: [] };
    const { steps, damagedLines } = session;
    const leftCutOff = move === "undo" && !options.isCutOff ? listCutOff(steps) : [];
    if (!target && leftCutOff.length === 0) return undefined;
    const isDone = target && !options.isDryRun;
    // Reverting an incomplete restoration is the recovery itself, so it cannot be stopped.
    const how = turned ? { isRollBack: true, options: { ...options, signal: undefined } } : { options };
    const done = isDone ? await applyRestore(session, { move, target, evaluated, ...how }) : undefined;
    if (done?.isStopped) return toStoppedRestoration(move, done);
    // What is missing from now on is what somebody wants to be.
    const { lossLog } = this.location;
    if (done && existsSync(lossLog)) await forgetLosses(lossLog, this.options.sessionId);
    const paths = done?.paths;
    const undone = target ? stepsBackTo(steps, target) : [];
    const isDryRun = options.isDryRun === true;
    const displacedRefs = findDisplacedRefs(evaluated, session.evaluateOptions);
    return toRestoration({
      ...{ move, evaluated, paths, target, undone, leftCutOff, damagedLines, isDryRun, displacedRefs },
    });
  }
}

/** The paths that interrupted turns may have changed, or that were changed after them, and that were not undone. */
function listCutOff(steps: readonly Step[]): string[] {
  const left = new Set(replaySteps(steps).cutOffs);
  const paths = steps
    .filter(({ id }) => left.has(id))
    .flatMap(({ changes, foreign = [] }) => [...changes, ...foreign].map(({ path }) => path));
  return [...new Set(paths)].sort();
}

interface Chosen {
  target: Step;
  evaluated: Evaluation[];
}

/** The first target with a change that can be restored, skipping a target that was just tried without effect. */
async function chooseTarget(
  targets: readonly Step[],
  { steps, evaluateOptions }: OpenedSession,
  { begin, ...options }: MoveOptions & { begin(target: Step): Step },
): Promise<Chosen | undefined> {
  let chosen: Chosen | undefined;
  for (const target of targets) {
    const planned = planRollBack(stepsBackTo(steps, begin(target)));
    chosen = { target, evaluated: await evaluateAll(planned, evaluateOptions, options) };
    if (chosen.evaluated.some(({ kind }) => kind === "restore") || !wasTriedWithoutEffect(target, steps))
      break;
  }
  return chosen;
}

function wasTriedWithoutEffect({ id }: Step, steps: readonly Step[]): boolean {
  const last = steps.findLastIndex((step) => !hadNoEffect(step));
  return steps.slice(last + 1).some(({ to }) => to === id);
}

/**
 * Every path that the steps have changed, before the first step and now; without paths that are unchanged, and without
 * git's own files.
 */
async function readVersions(
  steps: readonly Step[],
  evaluateOptions: EvaluateOptions,
): Promise<SessionChange[]> {
  const firsts = new Map<string, TreeEntry | undefined>();
  for (const { changes } of steps)
    for (const { path, before } of changes)
      if (!firsts.has(path) && !isOfRepository(path)) firsts.set(path, before);
  const slices = new TimeSlicer();
  const versions: SessionChange[] = [];
  for (const [path, before] of [...firsts].sort(([left], [right]) => (left < right ? -1 : 1))) {
    if (slices.isDue) await slices.pause();
    const present = await readEntryAt(path, evaluateOptions);
    if (isUnchanged(before, present)) continue;
    versions.push({
      path,
      before: toVersion(before, evaluateOptions.store),
      now: toVersion(present, evaluateOptions.store),
    });
  }
  return versions;
}

function isUnchanged(before: TreeEntry | undefined, present: Present): boolean {
  if (present?.kind === "special" || present?.kind === "unknown") return false;
  return isSameState(before, present);
}

function toVersion(entry: Present, store: BlobStore): PathVersion | undefined {
  switch (entry?.kind) {
    case undefined:
      return undefined;
    case "file": {
      const { mode, size, hash } = entry;
      return { kind: "file", mode, size, content: hash === undefined ? undefined : store.read(hash) };
    }
    case "link":
      return { kind: "link", target: entry.target };
    case "directory":
      return { kind: "directory", mode: entry.mode };
    default:
      return { kind: "other" };
  }
}

/** A restoration as requested, evaluated and performed; the result for the user is derived from it. */
interface RestorationDeps {
  move: Move;
  evaluated: readonly Evaluation[];
  /** Left out when nothing was changed. */
  paths: RestoredPaths | undefined;
  /** The step whose state was restored; undefined when there was none. */
  target: Step | undefined;
  /** The steps from the target on. */
  undone: readonly Step[];
  leftCutOff: readonly string[];
  damagedLines: number;
  isDryRun: boolean;
  displacedRefs: readonly DisplacedRef[];
}

// Nobody else changes files during a shorter call.
const LONG_CALL_MS = 1_000;

/** Converts the outcome for the user. */
function toRestoration(parts: RestorationDeps): Restoration {
  const { move, evaluated, paths, target } = parts;
  // The runs after the last one still in effect were undone before.
  const undone = parts.undone.filter(({ run }) => move !== "undo" || run === target?.run);
  const done = paths?.done ?? evaluated.flatMap((each) => (each.kind === "restore" ? [each.change] : []));
  const conflicts = evaluated.flatMap((each) => {
    if (each.kind === "conflict")
      return [{ path: each.change.path, reason: each.reason ?? describePresent(each.change, each.present) }];
    const isKept = each.kind !== "lost" && each.change.isCut;
    return isKept ? [{ path: each.change.path, reason: describeCut(each.change) }] : [];
  });
  const evaluatedPaths = new Set(evaluated.map(({ change }) => change.path));
  conflicts.push(...listForeign(undone).filter(({ path }) => !evaluatedPaths.has(path)));
  const meanwhile = paths?.conflicts ?? [];
  const isConflict = new Set(conflicts.map(({ path }) => path));
  return {
    move,
    restored: done
      .filter(({ path }) => !isConflict.has(path))
      .map(toRestoredPath)
      .sort(byPath),
    conflicts: [...conflicts, ...meanwhile.map(toReason)].sort(byPath),
    notKept: evaluated.flatMap((each) => (each.kind === "lost" ? [toNotKept(each)] : [])).sort(byPath),
    failures: (paths?.failures ?? []).map(toReason).sort(byPath),
    wasCutOff: parts.target?.isCutOff === true,
    isDryRun: parts.isDryRun,
    ...(paths && paths.unlike.length > 0 && { unlike: paths.unlike }),
    ...describeCalls(undone),
    ...describeTouched(parts),
    ...(parts.displacedRefs.length > 0 && { displacedRefs: parts.displacedRefs }),
    ...(parts.leftCutOff.length > 0 && { leftCutOff: parts.leftCutOff }),
    ...(parts.damagedLines > 0 && { damagedLines: parts.damagedLines }),
  };
}

/** The properties of the undone calls that the user has to know. */
function describeCalls(
  undone: readonly Step[],
): Pick<Restoration, "callMs" | "unseen" | "isRootChanged" | "isTooLarge"> {
  const calls = undone.filter(({ kind }) => kind === "run");
  const callMs = Math.max(0, ...calls.map((step) => (step.written === undefined ? (step.callMs ?? 0) : 0)));
  const unseen = [...new Set(calls.flatMap((step) => step.unseen ?? []))].sort();
  return {
    ...(callMs >= LONG_CALL_MS && { callMs }),
    ...(unseen.length > 0 && { unseen }),
    ...(calls.some((step) => step.isRootChanged) && { isRootChanged: true }),
    ...(calls.some((step) => step.isTooLarge) && { isTooLarge: true }),
  };
}

/** Includes paths touched by runs that changed no file, since those are never undone alone. */
function describeTouched({ undone, target }: RestorationDeps): Pick<Restoration, "touched"> {
  const changing = new Set(undone.filter(({ changes }) => changes.length > 0).map(({ run }) => run));
  const touched = undone
    .filter(({ kind, run }) => kind === "run" && (run === target?.run || !changing.has(run)))
    .flatMap((step) => step.touched ?? []);
  return touched.length > 0 ? { touched: [...new Set(touched)].sort() } : {};
}

/**
 * The result of a stopped restoration that was reverted, except for the listed paths. @param back left out when nothing
 * had been done.
 */
function toStoppedRestoration(move: Move, back?: Pick<RestorationDeps, "evaluated" | "paths">): Restoration {
  const { evaluated = [], paths } = back ?? {};
  const nothing = {
    target: undefined,
    undone: [],
    leftCutOff: [],
    damagedLines: 0,
    isDryRun: false,
    displacedRefs: [],
  };
  return { ...toRestoration({ move, evaluated, paths, ...nothing }), restored: [], isStopped: true };
}

/**
 * Changes during the session that are not certainly its work. The changes of file tools are known exactly; all others
 * are foreign.
 */
function listForeign(undone: readonly Step[]): { path: string; reason: string }[] {
  const reasons = new Map<string, string>();
  for (const { kind, written, isCutOff, foreign = [] } of undone) {
    if (kind !== "run" || written !== undefined) continue;
    const reason = isCutOff
      ? "changed after the run was cut off"
      : "changed while another session was active too";
    for (const { path } of foreign) reasons.set(path, reason);
  }
  return [...reasons].map(([path, reason]) => ({ path, reason }));
}

function toNotKept({ change: { path }, isCache, isControl }: Extract<Evaluation, { kind: "lost" }>) {
  return { path, isCache, ...(isControl && { isControl }) };
}

function toRestoredPath({ path, expected, target }: PlannedChange): RestoredPath {
  if (target === undefined) return { path, how: "removed" };
  return { path, how: expected === undefined ? "added" : "changed" };
}

function toReason({ change, reason }: { change: PlannedChange; reason: string }) {
  return { path: change.path, reason };
}

/** Describes another process's change since. */
function describePresent({ expected }: PlannedChange, present: Present): string {
  if (present === undefined) return "removed since";
  if (present.kind === "unknown") return "it is not accessible";
  return expected === undefined ? "created again since" : "changed since";
}

/** The session changed the path both before and after another process did. */
function describeCut({ target }: PlannedChange): string {
  if (target === undefined) return "removed by someone else in between, and removed again";
  return "changed by someone else in between, and kept as they left it";
}

function byPath(left: { path: string }, right: { path: string }): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}

/** A requested restoration. */
interface Wanted {
  move: Move;
  /** The step whose state before it is to be restored. */
  target: Step;
  evaluated: readonly Evaluation[];
  /** True for reverting the part of `target` that was done before it was stopped or interrupted. */
  isRollBack?: boolean;
  options: Pick<MoveOptions, "signal" | "onProgress">;
}

/** The performed changes. If it was stopped, these are the results of reverting them. */
interface CarriedOut {
  evaluated: readonly Evaluation[];
  paths: RestoredPaths;
  isStopped: boolean;
}

type Session = Pick<OpenedSession, "workplace" | "store" | "evaluateOptions" | "steps">;

/** Restores files. The plan is recorded before, and the result afterwards. @throws errors of the store. */
async function applyRestore(session: Session, wanted: Wanted): Promise<CarriedOut> {
  const { store, evaluateOptions } = session;
  const { root } = evaluateOptions;
  const { evaluated, isRollBack, options } = wanted;
  // A run may have removed the project directory itself. A file in its place is never changed.
  using _ = pathKind(root) === "missing" ? new MadeDirectory(root) : undefined;
  const restoring = begin(session, wanted);
  const onProgress = (done: number, total: number) =>
    options.onProgress?.({ doing: isRollBack ? "rollBack" : "restore", done, total });
  const toRestore = evaluated.filter((each) => each.kind === "restore");
  const work = { root, store, restoring, signal: options.signal, onProgress };
  const paths = await restoreChanges(toRestore, work);
  if (!paths) return await putBack(session, restoring, options);
  const step = { ...nameStep(session, restoring), ...describeDone(paths, wanted) };
  session.workplace.segment.append({ type: "step", step });
  return { evaluated, paths, isStopped: false };
}

function begin(
  { workplace, store, evaluateOptions }: Session,
  { move, target, evaluated, isRollBack }: Wanted,
): Restoring {
  const toRestore = evaluated.filter((each) => each.kind === "restore");
  const { isCutOff } = target;
  const restoring = planRestoring(evaluateOptions.root, toRestore, {
    ...{ id: randomHex(6), to: target.id, move, isCutOff, ...(isRollBack && { isRollBack }) },
    ...{ at: workplace.nextAt(), temporaryName: `.diligent-${randomHex(6)}.tmp` },
  });
  store.flush();
  if (toRestore.length > 0) workplace.segment.append({ type: "restoring", restoring });
  return restoring;
}

function nameStep({ workplace, evaluateOptions }: Session, { id, to, isCutOff, isRollBack }: Restoring) {
  const at = workplace.nextAt();
  const rootIdentity = readRootIdentity(evaluateOptions.root);
  return { id, at, to, isCutOff, ...(isRollBack && { isRollBack }), rootIdentity };
}

/** If nothing could be done, only the attempt is recorded, so that the next undo continues with an earlier run. */
function describeDone(paths: RestoredPaths, wanted: Wanted): Pick<Step, "kind" | "move" | "changes"> {
  const { move, target, evaluated, isRollBack = false } = wanted;
  const settled = evaluated.filter((each) => each.kind === "settled");
  // A restoration that was interrupted after its last change has nothing left to do.
  const isAllSettled = settled.length === evaluated.length && (move !== "undo" || evaluated.length === 0);
  const isAnswered = isRollBack || isCutOffMove(target) || isAllSettled;
  const hasEffect = paths.done.length > 0 || isAnswered;
  const changes = [...paths.done, ...settled.map(({ change }) => change)].map((change) => ({
    path: change.path,
    before: change.expected,
    after: change.target,
  }));
  const isWhole = hasEffect && paths.failures.length === 0;
  const kind = isWhole ? { kind: move } : { kind: "partial" as const, move };
  return { ...kind, changes: hasEffect ? changes : [] };
}

function isCutOffMove({ isCutOff, kind }: Step): boolean {
  return isCutOff === true && kind === "run";
}

/**
 * Reverts a stopped restoration: its changes so far are recorded and reverted, as after an interruption. Paths that
 * cannot be reverted can be retried or continued.
 */
async function putBack(
  session: Session,
  restoring: Restoring,
  { onProgress }: Wanted["options"],
): Promise<CarriedOut> {
  const { workplace, evaluateOptions } = session;
  onProgress?.({ doing: "rollBack", done: 0, total: restoring.changes.length });
  const opposite = restoring.move === "redo" ? "undo" : "redo";
  const adopted = await adoptRestoring(restoring, opposite, evaluateOptions);
  const rootIdentity = readRootIdentity(evaluateOptions.root);
  const target: Step = { ...adopted, at: workplace.nextAt(), rootIdentity };
  workplace.segment.append({ type: "step", step: target });
  const steps = [...session.steps, target];
  // An earlier interrupted restoration that this one continued is reverted as well.
  const first = firstAttempt(steps, target, ({ isAdopted }) => isAdopted === true);
  const evaluated = await evaluateAll(planRollBack(stepsBackTo(steps, first)), evaluateOptions);
  const back = { move: opposite, target, evaluated, isRollBack: true } as const;
  const { paths } = await applyRestore(session, { ...back, options: { onProgress } });
  return { evaluated, paths, isStopped: true };
}

/** @throws StoppedError once the signal is aborted. */
async function evaluateAll(
  planned: readonly PlannedChange[],
  evaluateOptions: OpenedSession["evaluateOptions"],
  { signal, onProgress }: Wanted["options"] = {},
): Promise<Evaluation[]> {
  const slices = new TimeSlicer(signal);
  const evaluated: Evaluation[] = [];
  for (const change of planned) {
    if (slices.isDue) {
      onProgress?.({ doing: "look", done: evaluated.length, total: planned.length });
      await slices.pause();
    }
    evaluated.push(await evaluateChange(change, evaluateOptions));
  }
  return holdRefsTogether(evaluated);
}

const PACKED_REFS = /(?:^|\/)packed-refs$/;

/**
 * Git looks for a ref in its own file first, then among the packed refs. If refs were packed since, restored files
 * would hide the commits in them.
 */
function holdRefsTogether(evaluated: readonly Evaluation[]): Evaluation[] {
  const repacked = evaluated.flatMap(({ kind, change }) =>
    kind === "conflict" && PACKED_REFS.test(change.path) ? [change.path.replace(PACKED_REFS, "")] : [],
  );
  const isHidden = (path: string) =>
    repacked.some((directory) => path.startsWith(directory === "" ? "refs/" : `${directory}/refs/`));
  return evaluated.map((each) =>
    each.kind === "restore" && isHidden(each.change.path)
      ? { kind: "conflict", change: each.change, present: each.present, reason: "refs were packed since" }
      : each,
  );
}
