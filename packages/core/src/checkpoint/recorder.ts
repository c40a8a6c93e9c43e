import { lstatSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { TimeSlicer } from "../infrastructure/async.ts";
import { findStats, listNames, toSystemPath } from "../infrastructure/fs/stat.ts";
import { monotonicMs, now, randomHex } from "../infrastructure/runtime.ts";
import { systemErrorCode } from "../infrastructure/system-error.ts";
import { type TreeChange, toAbsolute } from "./entries.ts";
import { recordLoss } from "./loss-log.ts";
import {
  findLostHistory,
  isStillLost,
  type KnownRefs,
  type LostHistory,
  selectRefs,
} from "./lost-history.ts";
import { withMoveLock } from "./open-history.ts";
import { findCutOffTurn, findKnownEntries, toCutOffStep, writeBase } from "./store/base.ts";
import { BlobStore } from "./store/blobs.ts";
import { listGenerations, processesOf, StoreRoom, sessionsOf } from "./store/location.ts";
import {
  findOpenTurn,
  lastTimeOf,
  OtherSegments,
  readSegment,
  readSegments,
  type Segment,
  unfinishedRestorings,
} from "./store/log.ts";
import { ProjectState, TooLargeError } from "./tree/project-state.ts";
import { findRepositories } from "./tree/repositories.ts";
import type { CheckpointOptions, Move, Step } from "./types.ts";
import { type CheckpointLocation, readRootIdentity, Workplace } from "./workplace.ts";

// A process that has just died is detected at once; a long undo takes its time.
const LOCK_WAIT_MS = 60_000;

interface RecorderDeps {
  location: CheckpointLocation;
  options: CheckpointOptions;
  workplace: Workplace;
  room: StoreRoom;
  recorded: RecordedProject;
}

/** Records the changes to a project while a session works in it. Its methods are called one after the other. */
export class Recorder {
  private readonly others: OtherSegments;
  private changesSeen = 0;
  private open: OpenCall | undefined;
  private readonly knownRefs: KnownRefs;
  private losses: readonly LostHistory[] = [];
  private readonly allLosses: LostHistory[] = [];

  private constructor(private readonly parts: RecorderDeps) {
    this.knownRefs = selectRefs(parts.recorded.state.entries);
    const { location, options, workplace } = parts;
    const { sessionId } = options;
    this.others = new OtherSegments({
      project: location.project,
      sessionId,
      ownPath: workplace.segment.path,
    });
  }

  /**
   * Records the current state of the project, in time slices.
   * @throws StoppedError, TooLargeError, StoreFullError, and errors of the file system; nothing is left on disk then.
   */
  static async begin(
    location: CheckpointLocation,
    options: CheckpointOptions,
    signal: AbortSignal,
  ): Promise<Recorder> {
    const room = new StoreRoom(location.checkpoints, location.limits);
    const workplace = Workplace.open(location, options);
    // The process may exit right after the abort.
    using _ = whenAborted(signal, () => workplace.close());
    try {
      const recorded = await recordProject(workplace, location, { options, signal });
      return new Recorder({ location, options, workplace, room, recorded });
    } catch (error) {
      workplace.close();
      throw error;
    }
  }

  get workplace(): Workplace {
    return this.parts.workplace;
  }

  /** An undo or redo of the session that had been interrupted when recording started; undefined without one. */
  get interruptedRestore(): Move | undefined {
    return this.parts.recorded.interruptedRestore;
  }

  /** How many earlier sessions lost their checkpoints. */
  get droppedSessions(): number {
    return this.parts.room.droppedSessions;
  }

  /** Of `unrecorded`, git's objects. */
  get unrecordedObjects(): readonly string[] {
    return this.parts.recorded.state.unrecordedObjects;
  }

  get hasRepositories(): boolean {
    return this.parts.recorded.state.hasRepositories;
  }

  /** True once something is missing in a repository that a call took away. */
  get hasLosses(): boolean {
    return this.allLosses.length > 0;
  }

  /** Files whose content is not recorded: their changes cannot be undone. */
  get unrecorded(): readonly string[] {
    return this.parts.recorded.state.unrecorded;
  }

  /** How many times the project was found changed since recording started. */
  get changeCount(): number {
    return this.changesSeen;
  }

  /** What calls have taken away from repositories since this was read last. */
  takeLosses(): readonly LostHistory[] {
    const { losses } = this;
    this.losses = [];
    return losses;
  }

  /** True while a call runs. */
  get isWorking(): boolean {
    return this.open !== undefined;
  }

  /**
   * Records that a call of a run is about to change files. What a call that is still under way has changed becomes a step
   * of its own; the rest of its changes belong to the new call's. @throws errors of the store and of the file system.
   */
  beginChanges(call: UpcomingCall): Promise<void> {
    const lock = { waitMs: LOCK_WAIT_MS, refusal: "an undo in this project does not finish" };
    return withMoveLock(this.parts.location.project, lock, () => this.recordStart(call));
  }

  /** Records the changes to the project since then. @throws like `beginChanges`, and TooLargeError, StoreFullError. */
  async endChanges(): Promise<void> {
    const { open } = this;
    if (!open) return;
    const { recorded, room, workplace } = this.parts;
    workplace.segment.stopHeartbeat();
    try {
      await this.recordStep(open, await recorded.state.update());
    } catch (error) {
      // The rest can still be restored: only paths without recorded content cannot.
      const isTooLarge = error instanceof TooLargeError;
      if (isTooLarge || systemErrorCode(error) !== undefined)
        await this.recordStep(open, await recorded.state.update({ isLenient: true }), isTooLarge);
      throw error;
    }
    room.check(recorded.store.ownSize);
  }

  /** Without changes, nothing that it recorded is needed. */
  close(): void {
    const { options, recorded, workplace } = this.parts;
    const { isTemporary, root } = options;
    if (isTemporary && !this.allLosses.some((lost) => isStillLost(root, lost))) {
      workplace.erase(recorded.store);
      return;
    }
    if (workplace.segment.isEmpty) workplace.discard(recorded.store);
    else recorded.store.close();
    workplace.close();
  }

  private async recordStart(call: UpcomingCall): Promise<void> {
    const { recorded, options, workplace } = this.parts;
    const before = this.open;
    if (before) await this.recordStep(before, await recorded.state.update());
    // Between two scans, the call that is still under way could change something that would then be nobody's.
    const changes = before ? [] : await recorded.state.update({ isQuick: true });
    this.noteChanges(changes);
    const { arrived } = recorded.state;
    // Another process may have undone changes, with a clock ahead of ours.
    const othersAt = this.others.findNewTime();
    if (othersAt !== undefined) workplace.noticeTime(othersAt);
    workplace.segment.append({
      type: "open",
      open: { at: workplace.nextAt(), ...call, changes, ...(arrived.length > 0 && { arrived }) },
    });
    this.open = openCall(call, options.root);
    workplace.segment.startHeartbeat();
    if (recorded.supersededBase !== undefined) rmSync(recorded.supersededBase, { force: true });
  }

  private noteChanges(changes: readonly TreeChange[]): void {
    if (changes.length > 0) this.changesSeen++;
  }

  private async recordStep(
    call: OpenCall,
    changes: readonly TreeChange[],
    isTooLarge = false,
  ): Promise<void> {
    this.noteChanges(changes);
    const { location, options, recorded, workplace } = this.parts;
    const at = workplace.nextAt();
    const end = { ...options, project: location.project, at, changes, state: recorded.state, isTooLarge };
    const step = toStep(call, end);
    workplace.segment.append({ type: "step", step });
    this.open = undefined;
    const { root, sessionId } = options;
    const { store } = recorded;
    const lost = findLostHistory(step.changes, { root, store, knownRefs: this.knownRefs });
    if (lost.length === 0) return;
    this.losses = [...this.losses, ...lost];
    this.allLosses.push(...lost);
    await recordLoss(location.lossLog, { sessionId, lost });
  }
}

/** A recorded project. */
interface RecordedProject {
  /** A base that is no longer needed once this process has recorded a change. */
  supersededBase: string | undefined;
  store: BlobStore;
  state: ProjectState;
  /** An undo or redo of the session that was interrupted. */
  interruptedRestore: Move | undefined;
}

/**
 * Scans and records the whole project, in time slices.
 * @throws StoppedError once `signal` is aborted, TooLargeError, and errors of the file system; its files are removed
 * then.
 */
async function recordProject(
  workplace: Workplace,
  location: CheckpointLocation,
  { options, signal }: { options: CheckpointOptions; signal: AbortSignal },
): Promise<RecordedProject> {
  const slices = new TimeSlicer(signal);
  const own = { directory: workplace.packs, name: workplace.name };
  // Contents in an older generation may be deleted before this one.
  const store = await BlobStore.open({ directories: [workplace.packs], own }, slices);
  using _ = whenAborted(signal, () => workplace.discard(store));
  try {
    const segments = readSegments(listGenerations(location.project), options.sessionId);
    workplace.noticeTime(lastTimeOf(segments));
    const cutOff = await findCutOffTurn(segments, slices);
    const known = cutOff ?? (await findKnownEntries(workplace.generation, slices));
    const { limits, except, scope } = location;
    const { root } = options;
    const repositories = scope === "repositories" ? await findRepositories(root, slices) : undefined;
    const state = new ProjectState({ root, store, limits, except, repositories }, known.entries);
    const changes = await state.update({ signal });
    workplace.prepareBase();
    await writeBase(workplace.basePath, state.entries, slices);
    await slices.pause();
    if (cutOff)
      workplace.segment.append(toCutOffStep(options.root, cutOff, { at: workplace.nextAt(), changes }));
    const interruptedRestore = unfinishedRestorings(segments).current.at(-1)?.move;
    return {
      store,
      state,
      interruptedRestore: interruptedRestore,
      supersededBase: "base" in known ? known.base : undefined,
    };
  } catch (error) {
    workplace.discard(store);
    throw error;
  }
}

/** Calls `clean` at the moment of the abort, until it is disposed. */
function whenAborted(signal: AbortSignal, clean: () => void): Disposable {
  signal.addEventListener("abort", clean);
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", clean) };
}

// The notice to the user lists at most this many names.
const MAX_UNSEEN = 20;

/** A call that is about to change files. */
interface UpcomingCall {
  /** The run that it belongs to. */
  run: string;
  /** The session's entry. */
  entryId: string | undefined;
  /** The only path that it changes, if known; relative to the project. */
  written?: string | undefined;
}

/** An active call. */
interface OpenCall extends UpcomingCall {
  startedAt: number;
  startedMs: number;
  /** The mode of the project directory itself. */
  rootMode: number | undefined;
}

/** @param root the project. */
function openCall(call: UpcomingCall, root: string): OpenCall {
  return { ...call, startedAt: now(), startedMs: monotonicMs(), rootMode: readMode(root) };
}

/** The findings when a call had ended. */
interface CallEnd extends Pick<CheckpointOptions, "root" | "sessionId"> {
  /** The directory of the project's checkpoints. */
  project: string;
  /** The time of its log entry. */
  at: number;
  /** Everything that has changed since the call began. */
  changes: readonly TreeChange[];
  state: ProjectState;
  /** True when there is more than can be recorded. */
  isTooLarge: boolean;
}

/** Converts the changes of a call into a log entry. */
function toStep(call: OpenCall, { at, root, state, isTooLarge, ...end }: CallEnd): Step {
  const { startedAt, run, entryId } = call;
  const span = {
    project: end.project,
    root,
    sessionId: end.sessionId,
    startedAt: startedAt,
    written: call.written,
  };
  const { changes, foreign, written } = splitChanges(end.changes, span);
  return {
    ...{ id: randomHex(6), at, kind: "run", run, entryId, changes },
    ...(foreign.length > 0 && { foreign }),
    ...(state.arrived.length > 0 && { arrived: state.arrived }),
    ...(isTooLarge && { isTooLarge }),
    ...(written !== undefined && { written }),
    ...(written === undefined && changes.length > 0 && describeUncertainty(call, state)),
    ...(written === undefined && describeTouched(state)),
    ...(readMode(root) !== call.rootMode && { isRootChanged: true }),
    rootIdentity: readRootIdentity(root),
  };
}

/** Caches that the call may have changed, and how long it took. */
function describeUncertainty({ startedMs }: OpenCall, { caches }: ProjectState) {
  const unseen = caches.slice(0, MAX_UNSEEN);
  return { callMs: Math.round(monotonicMs() - startedMs), ...(unseen.length > 0 && { unseen }) };
}

function describeTouched(state: ProjectState): { touched?: readonly string[] } {
  const touched = state.touched.slice(0, MAX_UNSEEN);
  return touched.length > 0 ? { touched } : {};
}

function readMode(root: string): number | undefined {
  return findStats(root)?.mode;
}

// The kernel's file clock lags by at most this much.
const TICK_MS = 40;

/** A call of a session and its start: other processes may have worked in the same project since. */
interface CallSpan {
  /** The directory of the project's checkpoints. */
  project: string;
  root: string;
  sessionId: string;
  /** When the call began; milliseconds since the epoch. */
  startedAt: number;
  /** The only path that the call changes, besides directories above it, if known. */
  written: string | undefined;
}

/** The changes during a call, separated by origin. */
interface SplitChanges {
  changes: TreeChange[];
  /** Changes that others may have made. */
  foreign: TreeChange[];
  /** The same as in the span, if that path was changed. */
  written?: string | undefined;
}

/**
 * Separates the changes that a call has certainly made from those that other sessions in the same project may have made
 * meanwhile.
 */
function splitChanges(all: readonly TreeChange[], span: CallSpan): SplitChanges {
  const { written } = span;
  // Most commands change nothing: then other sessions need not be checked.
  if (all.length === 0) return { changes: [], foreign: [] };
  // If the call has not changed its path, at least under that name, any change may be its work.
  const isKnown = written !== undefined && all.some(({ path }) => path === written);
  const isOurs = isKnown
    ? ({ path }: TreeChange) => path === written || written.startsWith(`${path}/`)
    : not(findForeign(span));
  const parts = { changes: all.filter(isOurs), foreign: all.filter(not(isOurs)) };
  return isKnown ? { ...parts, written } : parts;
}

type Test = (change: TreeChange) => boolean;

function not(test: Test): Test {
  return (change) => !test(change);
}

function findForeign(span: CallSpan): Test {
  const tests = listOthers(span).flatMap((segment) => testsOf(segment, span));
  return (change) => tests.some((test) => test(change));
}

function testsOf(segment: Segment, { root, startedAt }: CallSpan): Test[] {
  const paths = new Set<string>();
  for (const line of segment.lines) {
    if (line.type === "restoring" && line.restoring.at >= startedAt)
      for (const { path } of line.restoring.changes) paths.add(path);
    if (line.type !== "step" || line.step.at < startedAt) continue;
    const { written, changes, foreign = [] } = line.step;
    for (const { path } of written === undefined ? [...changes, ...foreign] : changes) paths.add(path);
  }
  const open = findOpenTurn(segment);
  const during: Test[] = open ? [(change) => isDuring(change, open, root)] : [];
  return [({ path }) => paths.has(path), ...during];
}

/** True for a change since the start of the other session's call, which is still running. */
function isDuring(
  { path, after }: TreeChange,
  { at, written }: { at: number; written?: string | undefined },
  root: string,
): boolean {
  if (written !== undefined) return path === written || written.startsWith(`${path}/`);
  if (after === undefined) return true;
  try {
    return lstatSync(toSystemPath(toAbsolute(root, path))).ctimeMs >= at - TICK_MS;
  } catch {
    return true; // It was removed just now.
  }
}

/** The logs of other sessions that were written since, or whose process is running. */
function listOthers({ project, sessionId, startedAt }: CallSpan): Segment[] {
  const logs = listGenerations(project).flatMap((generation) => {
    const isHeld = holderTest(generation);
    return listNames(sessionsOf(generation)).flatMap((session) => {
      const directory = join(sessionsOf(generation), session);
      const names = listNames(directory).filter((name) => name.endsWith(".jsonl"));
      return names.map((name) => ({ path: join(directory, name), isHeld: isHeld(name) }));
    });
  });
  const isRecent = (path: string) =>
    (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= startedAt - TICK_MS;
  return logs
    .filter(({ path, isHeld }) => isHeld || isRecent(path))
    .map(({ path }) => path)
    .flatMap((log) => readSegment(log) ?? [])
    .filter(({ header }) => header.sessionId !== sessionId);
}

/** Processes announce themselves by marker files whose names end in the name of their log. */
function holderTest(generation: string): (log: string) => boolean {
  const marks = listNames(processesOf(generation));
  return (log) => marks.some((mark) => mark.endsWith(`.${log.slice(0, -".jsonl".length)}`));
}
