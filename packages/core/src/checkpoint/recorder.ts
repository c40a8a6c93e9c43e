import { lstatSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { TimeSlicer } from "../infrastructure/async.ts";
import { findStats, toSystemPath } from "../infrastructure/fs/stat.ts";
import { monotonicMs, now, randomHex } from "../infrastructure/runtime.ts";
import { systemErrorCode } from "../infrastructure/system-error.ts";
import { type TreeChange, toAbsolute } from "./entries.ts";
import { withMoveLock } from "./open-history.ts";
import { findCutOffTurn, findKnownEntries, toCutOffStep, writeBase } from "./store/base.ts";
import { BlobStore } from "./store/blobs.ts";
import { listGenerations, listStoreNames, processesOf, StoreRoom, sessionsOf } from "./store/location.ts";
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
import type { CheckpointOptions, Move, Step } from "./types.ts";
import { type CheckpointLocation, readRootIdentity, Workplace } from "./workplace.ts";

// A process that has just died is found out at once; a long undo takes its time.
const LOCK_WAIT_MS = 60_000;

interface RecorderDeps {
  place: CheckpointLocation;
  options: CheckpointOptions;
  workplace: Workplace;
  room: StoreRoom;
  kept: KeptProject;
}

/** Follows what becomes of a project while a session works in it. Its methods are called one after the other. */
export class Recorder {
  private readonly others: OtherSegments;
  private open: OpenCall | undefined;

  private constructor(private readonly parts: RecorderDeps) {
    const { place, options, workplace } = parts;
    const { sessionId } = options;
    this.others = new OtherSegments({ project: place.project, sessionId, ownPath: workplace.segment.path });
  }

  /**
   * Keeps the project as it is now, in pieces.
   * @throws StoppedError, TooLargeError, StoreFullError, and errors of the file system; nothing is left behind then.
   */
  static async begin(
    place: CheckpointLocation,
    options: CheckpointOptions,
    signal: AbortSignal,
  ): Promise<Recorder> {
    const room = new StoreRoom(place.checkpoints, place.limits);
    const workplace = Workplace.open(place, options);
    // The process may end right after it has said so.
    using _ = whenAborted(signal, () => workplace.close());
    try {
      const kept = await keepProject(workplace, place, { options, signal });
      return new Recorder({ place, options, workplace, room, kept });
    } catch (error) {
      workplace.close();
      throw error;
    }
  }

  get workplace(): Workplace {
    return this.parts.workplace;
  }

  /** An undo or redo of the session that was cut off halfway when this began; undefined without one. */
  get interruptedRestore(): Move | undefined {
    return this.parts.kept.interruptedRestore;
  }

  /** How many earlier sessions had to lose their checkpoints. */
  get droppedSessions(): number {
    return this.parts.room.droppedSessions;
  }

  /** Files whose content is not kept: what becomes of them cannot be taken back. */
  get unkept(): readonly string[] {
    return this.parts.kept.state.unkept;
  }

  /** True while a call runs. */
  get isWorking(): boolean {
    return this.open !== undefined;
  }

  /** Notes down that a call of a run is about to change something. @throws errors of the store and of the file system. */
  beginChanges(call: UpcomingCall): Promise<void> {
    const lock = { waitMs: LOCK_WAIT_MS, refusal: "an undo in this project does not finish" };
    return withMoveLock(this.parts.place.project, lock, () => this.noteOpen(call));
  }

  /** Notes down what has become of the project since. @throws as `beginChanges` does, and TooLargeError, StoreFullError. */
  async endChanges(): Promise<void> {
    const { open } = this;
    if (!open) return;
    const { kept, room, workplace } = this.parts;
    workplace.segment.stopSigns();
    try {
      this.noteStep(open, await kept.state.update());
    } catch (error) {
      // Then that much at least: what is not kept is not restored, and everything else is.
      const isTooLarge = error instanceof TooLargeError;
      if (isTooLarge || systemErrorCode(error) !== undefined)
        this.noteStep(open, await kept.state.update({ isLenient: true }), isTooLarge);
      throw error;
    }
    room.check(kept.store.ownSize);
  }

  /** What is in it was never needed, if nothing was changed. */
  close(): void {
    const { kept, workplace } = this.parts;
    if (workplace.segment.isEmpty) kept.store.discard();
    else kept.store.close();
    workplace.close();
  }

  private async noteOpen(call: UpcomingCall): Promise<void> {
    const { kept, options, workplace } = this.parts;
    const changes = await kept.state.update({ isQuick: true });
    const { arrived } = kept.state;
    // Another process may have taken something back, by a clock that was ahead of ours.
    const othersAt = this.others.findNewTime();
    if (othersAt !== undefined) workplace.noticeTime(othersAt);
    workplace.segment.append({
      type: "open",
      open: { at: workplace.nextAt(), ...call, changes, ...(arrived.length > 0 && { arrived }) },
    });
    this.open = openCall(call, options.root);
    workplace.segment.giveSigns();
    if (kept.supersededBase !== undefined) rmSync(kept.supersededBase, { force: true });
  }

  private noteStep(call: OpenCall, changes: readonly TreeChange[], isTooLarge = false): void {
    const { place, options, kept, workplace } = this.parts;
    const at = workplace.nextAt();
    const end = { ...options, project: place.project, at, changes, state: kept.state, isTooLarge };
    workplace.segment.append({ type: "step", step: toStep(call, end) });
    this.open = undefined;
  }
}

/** A project that is kept. */
interface KeptProject {
  /** What is no longer needed once this process has noted something down. */
  supersededBase: string | undefined;
  store: BlobStore;
  state: ProjectState;
  /** An undo or redo of the session that was cut off halfway. */
  interruptedRestore: Move | undefined;
}

/**
 * Looks at everything in the project and keeps it, in pieces.
 * @throws StoppedError once `signal` is aborted, TooLargeError, and errors of the file system; what it has made is removed then.
 */
async function keepProject(
  workplace: Workplace,
  place: CheckpointLocation,
  { options, signal }: { options: CheckpointOptions; signal: AbortSignal },
): Promise<KeptProject> {
  const slices = new TimeSlicer(signal);
  const own = { directory: workplace.packs, name: workplace.name };
  // What lies in an older place may be dropped before this one is.
  const store = await BlobStore.open({ directories: [workplace.packs], own }, slices);
  using _ = whenAborted(signal, () => store.discard());
  try {
    const segments = readSegments(listGenerations(place.project), options.sessionId);
    workplace.noticeTime(lastTimeOf(segments));
    const cutOff = await findCutOffTurn(segments, slices);
    const known = cutOff ?? (await findKnownEntries(workplace.generation, slices));
    const { limits, except } = place;
    const state = new ProjectState({ root: options.root, store, limits, except }, known.entries);
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
    store.discard();
    throw error;
  }
}

/** Calls `clean` at the very moment of the abort, until it is disposed of. */
function whenAborted(signal: AbortSignal, clean: () => void): Disposable {
  signal.addEventListener("abort", clean);
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", clean) };
}

// A line in what is said to a person.
const MAX_UNSEEN = 20;

/** A call that is about to change something. */
interface UpcomingCall {
  /** The run that it belongs to. */
  run: string;
  /** Of the session. */
  entryId: string | undefined;
  /** The only path that it changes, where it is known; relative to the project. */
  written?: string | undefined;
}

/** An active call. */
interface OpenCall extends UpcomingCall {
  begunAt: number;
  begunMs: number;
  /** The directory of the project itself. */
  rootMode: number | undefined;
}

/** @param root the project. */
function openCall(call: UpcomingCall, root: string): OpenCall {
  return { ...call, begunAt: now(), begunMs: monotonicMs(), rootMode: readMode(root) };
}

/** What was found when a call had ended, and where. */
interface CallEnd extends Pick<CheckpointOptions, "root" | "sessionId"> {
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
function toStep(call: OpenCall, { at, root, state, isTooLarge, ...end }: CallEnd): Step {
  const { begunAt, run, entryId } = call;
  const span = { project: end.project, root, sessionId: end.sessionId, begunAt, written: call.written };
  const { changes, foreign, written } = splitChanges(end.changes, span);
  return {
    ...{ id: randomHex(6), at, kind: "run", run, entryId, changes },
    ...(foreign.length > 0 && { foreign }),
    ...(state.arrived.length > 0 && { arrived: state.arrived }),
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

// The kernel's clock for files is behind by that much at most.
const TICK_MS = 40;

/** A call of a session, and when it began: others may have worked in the same project since. */
interface CallSpan {
  /** Where all checkpoints of the project are. */
  project: string;
  root: string;
  sessionId: string;
  /** When the call began; milliseconds since the epoch. */
  begunAt: number;
  /** The only path, beside directories above it, that the call changes, where it is known. */
  written: string | undefined;
}

/** What has changed in the span of a call, by whose work it is. */
interface SplitChanges {
  changes: TreeChange[];
  /** Others may have done that. */
  foreign: TreeChange[];
  /** As in the span, if that is what was changed. */
  written?: string | undefined;
}

/** Tells what a call has certainly changed from what other sessions in the same project may have changed meanwhile. */
function splitChanges(all: readonly TreeChange[], span: CallSpan): SplitChanges {
  const { written } = span;
  // Most commands change nothing: then nobody else's work need be looked for.
  if (all.length === 0) return { changes: [], foreign: [] };
  // Where it has not changed what it was to change, by that name at least, anything may be its work.
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

function testsOf(segment: Segment, { root, begunAt }: CallSpan): Test[] {
  const paths = new Set<string>();
  for (const line of segment.lines) {
    if (line.type === "restoring" && line.restoring.at >= begunAt)
      for (const { path } of line.restoring.changes) paths.add(path);
    if (line.type !== "step" || line.step.at < begunAt) continue;
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
    return true; // It went away just now.
  }
}

/** The logs of other sessions in which something was noted since, or which a process still works on. */
function listOthers({ project, sessionId, begunAt }: CallSpan): Segment[] {
  const logs = listGenerations(project).flatMap((generation) => {
    const isHeld = holderTest(generation);
    return listStoreNames(sessionsOf(generation)).flatMap((session) => {
      const directory = join(sessionsOf(generation), session);
      const names = listStoreNames(directory).filter((name) => name.endsWith(".jsonl"));
      return names.map((name) => ({ path: join(directory, name), isHeld: isHeld(name) }));
    });
  });
  const isRecent = (path: string) =>
    (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= begunAt - TICK_MS;
  return logs
    .filter(({ path, isHeld }) => isHeld || isRecent(path))
    .map(({ path }) => path)
    .flatMap((log) => readSegment(log) ?? [])
    .filter(({ header }) => header.sessionId !== sessionId);
}

/** Processes announce themselves by marks that end in the name of their log. */
function holderTest(generation: string): (log: string) => boolean {
  const marks = listStoreNames(processesOf(generation));
  return (log) => marks.some((mark) => mark.endsWith(`.${log.slice(0, -".jsonl".length)}`));
}
