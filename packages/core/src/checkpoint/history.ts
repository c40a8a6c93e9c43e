import { StoppedError, TimeSlicer } from "../infrastructure/async.ts";
import { pathKind } from "../infrastructure/fs/stat.ts";
import { now, randomHex } from "../infrastructure/runtime.ts";
import { isOfRepository, isSameState, type TreeEntry } from "./entries.ts";
import {
  BusySessionError,
  findWorker,
  type OpenedSession,
  type OpeningOptions,
  type OwnWork,
  withMoveLock,
  withOpenedSession,
} from "./open-history.ts";
import {
  type EvaluateOptions,
  type Evaluation,
  evaluateChange,
  lookAtPath,
  type Present,
} from "./restore/evaluate-change.ts";
import { adoptRestoring, planRestoring, restoreChanges } from "./restore/restore.ts";
import { MadeDirectory, type RestoredPaths } from "./restore/restore-work.ts";
import type { BlobStore } from "./store/blobs.ts";
import { listGenerations } from "./store/location.ts";
import {
  findCutOffTarget,
  findHalfDone,
  findRedoTarget,
  firstAttempt,
  firstStepBehind,
  firstStepOf,
  hasChanged,
  isInVain,
  type PlannedChange,
  planRollBack,
  replaySteps,
  stepsBackTo,
} from "./timeline.ts";
import type {
  CheckpointOptions,
  Move,
  MoveOptions,
  PathVersion,
  Restoration,
  RestoredPath,
  Restoring,
  SessionChange,
  Step,
} from "./types.ts";
import { type CheckpointLocation, readRootIdentity } from "./workplace.ts";

// Whoever begins a call holds the lock for a look at the project; a second undo is to be told soon.
const LOCK_WAIT_MS = 2_000;

/**
 * What a session has done so far, and how to undo it. Everything is read again each time: other processes may have
 * continued.
 */
export class History {
  constructor(
    private readonly place: CheckpointLocation,
    private readonly options: CheckpointOptions,
    private readonly own: OwnWork = {},
  ) {}

  /**
   * Undoes the changes of the last run that is not undone. Undefined if there is none. If nothing of it can be
   * undone, it stays the last one, and the next undo continues with the one before. An incomplete redo comes first.
   * @throws BusySessionError while another process works on the session, OtherProjectError, and errors of the
   * store.
   */
  undo(options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("undo", options, (steps) => {
      if (options.isCutOff) return [findCutOffTarget(steps)];
      const runs = replaySteps(steps).runs.filter((run) => hasChanged(steps, run));
      return runs.map((run) => firstStepOf(steps, run)).reverse();
    });
  }

  /** Redoes what was undone last, even if incompletely. Undefined if there is nothing. @throws like `undo`. */
  redo(options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("redo", options, (steps) => [findRedoTarget(steps)]);
  }

  /**
   * Brings the files to where they were at a place of the conversation. Undefined when that is where they are.
   * @param entryIds the entries from the beginning of the conversation to that place.
   * @throws like `undo`.
   */
  jump(entryIds: ReadonlySet<string>, options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("jump", options, (steps) => {
      const step = firstStepBehind(steps, entryIds);
      const isThere = !step || planRollBack(stepsBackTo(steps, step)).length === 0;
      // Cut off when it had done everything, it still is to be noted down.
      return [isThere && steps.at(-1)?.to !== step?.id ? undefined : step];
    });
  }

  /**
   * The paths that this session has changed, as they were before and as they are now, sorted; without what a call does that
   * is running. Undefined when nothing is known of the session.
   */
  changes(): Promise<SessionChange[] | undefined> {
    const reading = ({ steps, judging }: OpenedSession) => readVersions(steps, judging);
    return withOpenedSession(this.opening({ isReading: true }), reading);
  }

  private move(
    move: Move,
    options: MoveOptions,
    findTargets: (steps: readonly Step[]) => readonly (Step | undefined)[],
  ): Promise<Restoration | undefined> {
    const { isDryRun: isReading = false, signal } = options;
    // Where nothing was ever kept, not even a lock is left behind.
    if (listGenerations(this.place.project).length === 0) return Promise.resolve(undefined);
    const begunAt = now();
    const refusal = "Another undo or redo is running in this project. Try again when it is done.";
    return withMoveLock(this.place.project, { waitMs: LOCK_WAIT_MS, refusal }, (hadToWait) =>
      withOpenedSession(this.opening({ isReading, move, signal }), (session) => {
        // Of two who ask for the same at the same time, one is served.
        const last = session.steps.at(-1);
        if (hadToWait && last && last.kind !== "run" && last.at >= begunAt)
          throw new BusySessionError(refusal);
        return this.moveOpened(move, options, { session, findTargets });
      }),
    ).catch((error: unknown) => {
      // Until something is restored, nothing has happened.
      if (error instanceof StoppedError) return toStoppedRestoration(move);
      throw error;
    });
  }

  private opening(what: Pick<OpeningOptions, "isReading" | "move" | "signal">): OpeningOptions {
    return { place: this.place, options: this.options, own: this.own, ...what };
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
    // Reverting an incomplete restoration is the recovery itself: that is not stopped.
    const how = turned ? { isRollBack: true, options: { ...options, signal: undefined } } : { options };
    const done = isDone ? await applyRestore(session, { move, target, evaluated, ...how }) : undefined;
    if (done?.isStopped) return toStoppedRestoration(move, done);
    const paths = done?.paths;
    const undone = target ? stepsBackTo(steps, target) : [];
    const isDryRun = options.isDryRun === true;
    return toRestoration({ move, evaluated, paths, target, undone, leftCutOff, damagedLines, isDryRun });
  }
}

/** What may be the work of turns that were cut off and were not taken back, or was changed after them. */
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

/** The first of which something can be restored, beyond those of which that was tried just now. */
async function chooseTarget(
  targets: readonly Step[],
  { steps, judging }: OpenedSession,
  { begin, ...options }: MoveOptions & { begin(target: Step): Step },
): Promise<Chosen | undefined> {
  let chosen: Chosen | undefined;
  for (const target of targets) {
    const planned = planRollBack(stepsBackTo(steps, begin(target)));
    chosen = { target, evaluated: await evaluateAll(planned, judging, options) };
    if (chosen.evaluated.some(({ kind }) => kind === "restore") || !wasTriedInVain(target, steps)) break;
  }
  return chosen;
}

function wasTriedInVain({ id }: Step, steps: readonly Step[]): boolean {
  const last = steps.findLastIndex((step) => !isInVain(step));
  return steps.slice(last + 1).some(({ to }) => to === id);
}

/**
 * Every path that the steps have changed, before the first of them and now; without those that are as they were, and what
 * belongs to git.
 */
async function readVersions(steps: readonly Step[], judging: EvaluateOptions): Promise<SessionChange[]> {
  const firsts = new Map<string, TreeEntry | undefined>();
  for (const { changes } of steps)
    for (const { path, before } of changes)
      if (!firsts.has(path) && !isOfRepository(path)) firsts.set(path, before);
  const slices = new TimeSlicer();
  const versions: SessionChange[] = [];
  for (const [path, before] of [...firsts].sort(([left], [right]) => (left < right ? -1 : 1))) {
    if (slices.isDue) await slices.pause();
    const present = await lookAtPath(path, judging);
    if (isUnchanged(before, present)) continue;
    versions.push({ path, before: toVersion(before, judging.store), now: toVersion(present, judging.store) });
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

/** What was wanted, evaluated and done: what a person is told of follows from it. */
interface RestorationDeps {
  move: Move;
  evaluated: readonly Evaluation[];
  /** Left out where nothing was done. */
  paths: RestoredPaths | undefined;
  /** What was gone back to; undefined where there was nothing. */
  target: Step | undefined;
  /** The steps from there on. */
  undone: readonly Step[];
  leftCutOff: readonly string[];
  damagedLines: number;
  isDryRun: boolean;
}

// What takes less is not what somebody does something else beside.
const LONG_CALL_MS = 1_000;

/** What came of it, for a person. */
function toRestoration(parts: RestorationDeps): Restoration {
  const { move, evaluated, paths, target } = parts;
  // The runs behind the last one that stands were taken back before.
  const undone = parts.undone.filter(({ run }) => move !== "undo" || run === target?.run);
  const done = paths?.done ?? evaluated.flatMap((each) => (each.kind === "restore" ? [each.change] : []));
  const conflicts = evaluated.flatMap((each) => {
    if (each.kind === "conflict")
      return [{ path: each.change.path, reason: each.reason ?? describePresent(each.change, each.present) }];
    const isKept = each.kind !== "lost" && each.change.isCut;
    return isKept ? [{ path: each.change.path, reason: describeCut(each.change) }] : [];
  });
  const judgedPaths = new Set(evaluated.map(({ change }) => change.path));
  conflicts.push(...listForeign(undone).filter(({ path }) => !judgedPaths.has(path)));
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
    ...(parts.leftCutOff.length > 0 && { leftCutOff: parts.leftCutOff }),
    ...(parts.damagedLines > 0 && { damagedLines: parts.damagedLines }),
  };
}

/** What is to be known of the calls whose work it is. */
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

/** Also what runs have edited that have changed no file, since those are never taken back by themselves. */
function describeTouched({ undone, target }: RestorationDeps): Pick<Restoration, "touched"> {
  const changing = new Set(undone.filter(({ changes }) => changes.length > 0).map(({ run }) => run));
  const touched = undone
    .filter(({ kind, run }) => kind === "run" && (run === target?.run || !changing.has(run)))
    .flatMap((step) => step.touched ?? []);
  return touched.length > 0 ? { touched: [...new Set(touched)].sort() } : {};
}

/** It was stopped, and all of it put back, but for what is said. @param back left out where nothing had been done. */
function toStoppedRestoration(move: Move, back?: Pick<RestorationDeps, "evaluated" | "paths">): Restoration {
  const { evaluated = [], paths } = back ?? {};
  const nothing = { target: undefined, undone: [], leftCutOff: [], damagedLines: 0, isDryRun: false };
  return { ...toRestoration({ move, evaluated, paths, ...nothing }), restored: [], isStopped: true };
}

/** What changed meanwhile, and is not certainly the session's work. What file tools write is known: the rest is not theirs. */
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

/** What somebody else has done since. */
function describePresent({ expected }: PlannedChange, present: Present): string {
  if (present === undefined) return "removed since";
  if (present.kind === "unknown") return "it is not accessible";
  return expected === undefined ? "created again since" : "changed since";
}

/** The session has changed it both before and after somebody else did. */
function describeCut({ target }: PlannedChange): string {
  if (target === undefined) return "removed by someone else in between, and removed again";
  return "changed by someone else in between, and kept as they left it";
}

function byPath(left: { path: string }, right: { path: string }): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}

/** What is to be done. */
interface Wanted {
  move: Move;
  /** The step before which everything stood that is to be restored. */
  target: Step;
  evaluated: readonly Evaluation[];
  /** True for what puts back what `target` had done before it was stopped or cut off. */
  isRollBack?: boolean;
  options: Pick<MoveOptions, "signal" | "onProgress">;
}

/** What was done. Where it was stopped on the way, this is what came of putting everything back. */
interface CarriedOut {
  evaluated: readonly Evaluation[];
  paths: RestoredPaths;
  isStopped: boolean;
}

type Session = Pick<OpenedSession, "workplace" | "store" | "judging" | "steps">;

/** Restores files. What is to be done is noted down before, and what was done afterwards. @throws errors of the store. */
async function applyRestore(session: Session, wanted: Wanted): Promise<CarriedOut> {
  const { store, judging } = session;
  const { root } = judging;
  const { evaluated, isRollBack, options } = wanted;
  // A run may have taken away the project itself. What has taken its place is never touched.
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
  { workplace, store, judging }: Session,
  { move, target, evaluated, isRollBack }: Wanted,
): Restoring {
  const toRestore = evaluated.filter((each) => each.kind === "restore");
  const { isCutOff } = target;
  const restoring = planRestoring(judging.root, toRestore, {
    ...{ id: randomHex(6), to: target.id, move, isCutOff, ...(isRollBack && { isRollBack }) },
    ...{ at: workplace.nextAt(), temporaryName: `.diligent-${randomHex(6)}.tmp` },
  });
  store.flush();
  if (toRestore.length > 0) workplace.segment.append({ type: "restoring", restoring });
  return restoring;
}

function nameStep({ workplace, judging }: Session, { id, to, isCutOff, isRollBack }: Restoring) {
  const at = workplace.nextAt();
  const rootIdentity = readRootIdentity(judging.root);
  return { id, at, to, isCutOff, ...(isRollBack && { isRollBack }), rootIdentity };
}

/** Where nothing could be done, only that this was tried is said, so that the next undo may go further back. */
function describeDone(paths: RestoredPaths, wanted: Wanted): Pick<Step, "kind" | "move" | "changes"> {
  const { move, target, evaluated, isRollBack = false } = wanted;
  const settled = evaluated.filter((each) => each.kind === "settled");
  // What was cut off at its very end has nothing left to do.
  const isAllSettled = settled.length === evaluated.length && (move !== "undo" || evaluated.length === 0);
  const isAnswered = isRollBack || isCutOffMove(target) || isAllSettled;
  const isOfUse = paths.done.length > 0 || isAnswered;
  const changes = [...paths.done, ...settled.map(({ change }) => change)].map((change) => ({
    path: change.path,
    before: change.expected,
    after: change.target,
  }));
  const isWhole = isOfUse && paths.failures.length === 0;
  const kind = isWhole ? { kind: move } : { kind: "partial" as const, move };
  return { ...kind, changes: isOfUse ? changes : [] };
}

function isCutOffMove({ isCutOff, kind }: Step): boolean {
  return isCutOff === true && kind === "run";
}

/**
 * Reverts a stopped restoration: as for an interrupted one, what it has done so far is recorded and reverted. Files
 * that cannot be reverted can be retried or continued.
 */
async function putBack(
  session: Session,
  restoring: Restoring,
  { onProgress }: Wanted["options"],
): Promise<CarriedOut> {
  const { workplace, judging } = session;
  onProgress?.({ doing: "rollBack", done: 0, total: restoring.changes.length });
  const opposite = restoring.move === "redo" ? "undo" : "redo";
  const adopted = await adoptRestoring(restoring, opposite, judging);
  const rootIdentity = readRootIdentity(judging.root);
  const target: Step = { ...adopted, at: workplace.nextAt(), rootIdentity };
  workplace.segment.append({ type: "step", step: target });
  const steps = [...session.steps, target];
  // An earlier interrupted restoration that this one continued is reverted as well.
  const first = firstAttempt(steps, target, ({ isAdopted }) => isAdopted === true);
  const evaluated = await evaluateAll(planRollBack(stepsBackTo(steps, first)), judging);
  const back = { move: opposite, target, evaluated, isRollBack: true } as const;
  const { paths } = await applyRestore(session, { ...back, options: { onProgress } });
  return { evaluated, paths, isStopped: true };
}

/** @throws StoppedError once the signal is aborted. */
async function evaluateAll(
  planned: readonly PlannedChange[],
  judging: OpenedSession["judging"],
  { signal, onProgress }: Wanted["options"] = {},
): Promise<Evaluation[]> {
  const slices = new TimeSlicer(signal);
  const evaluated: Evaluation[] = [];
  for (const change of planned) {
    if (slices.isDue) {
      onProgress?.({ doing: "look", done: evaluated.length, total: planned.length });
      await slices.pause();
    }
    evaluated.push(await evaluateChange(change, judging));
  }
  return holdRefsTogether(evaluated);
}

const PACKED_REFS = /(?:^|\/)packed-refs$/;

/**
 * Git looks for a ref in a file of its own first, then among the packed ones. Where somebody has packed refs since, those files
 * would hide what they have committed.
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
