import { rmSync, statSync } from "node:fs";
import { monotonicMs, now } from "../infrastructure/clock.ts";
import { homeDirectory } from "../infrastructure/environment.ts";
import { randomHex } from "../infrastructure/random-hex.ts";
import { findStats } from "../infrastructure/reading/find-stats.ts";
import { findRealPath, isInside } from "../infrastructure/reading/real-path.ts";
import { systemErrorCode } from "../infrastructure/system-error.ts";
import { withMoveLock } from "./move-lock.ts";
import { splitChanges } from "./overlap.ts";
import { readRootIdentity } from "./root-identity.ts";
import { Slices } from "./slices.ts";
import { writeBase } from "./store/base-file.ts";
import { BlobStore } from "./store/blob-store.ts";
import { findCutOffTurn, findKnownEntries } from "./store/known-entries.ts";
import { lastTimeOf, readSegments, unfinishedRestorings } from "./store/read-segments.ts";
import { listGenerations, sessionOf, sizeOf } from "./store/store-place.ts";
import { makeRoom } from "./store/store-space.ts";
import { toCutOffStep } from "./timeline/cut-off-step.ts";
import type { Move } from "./timeline/types.ts";
import { ProjectState, TooLargeError } from "./tree/project-state.ts";
import type { TreeChange } from "./tree-entry.ts";
import type { CheckpointOptions } from "./types.ts";
import { type CheckpointPlace, Workplace } from "./workplace.ts";

// A process that has just died is found out at once; a long undo takes its time.
const LOCK_WAIT_MS = 60_000;

/** What a process that was killed has done after its last sign of life does not count as its work. */
const SIGN_MS = 250;

// A line in what is said to a person.
const MAX_UNSEEN = 20;

/** No room is left for checkpoints. */
export class StoreFullError extends Error {
  override name = "StoreFullError";
}

/** Follows what becomes of a project while a session works in it. Its methods are called one after the other. */
export class Recorder {
  /** Of the own pack, when the room was last looked at. */
  private checkedSize = 0;
  private open: OpenCall | undefined;
  /** Bytes of what other processes had noted down about the session when that was last looked at. */
  private othersSize = 0;

  private signs: ReturnType<typeof setInterval> | undefined;
  private readonly root: string;
  private readonly sessionId: string;
  /** An undo or redo of the session that was cut off halfway when this began; undefined without one. */
  get halfMove(): Move | undefined {
    return this.parts.halfMove;
  }

  /** How many earlier sessions had to lose their checkpoints. */
  readonly droppedSessions: number;

  private constructor(
    private readonly place: CheckpointPlace,
    readonly workplace: Workplace,
    private readonly parts: KeptProject,
    { root, sessionId, droppedSessions }: { root: string; sessionId: string; droppedSessions: number },
  ) {
    this.root = root;
    this.sessionId = sessionId;
    this.droppedSessions = droppedSessions;
  }

  /**
   * Keeps the project as it is now, in pieces.
   * @throws StoppedError, TooLargeError, StoreFullError, and errors of the file system; nothing is left behind then.
   */
  static async begin(
    place: CheckpointPlace,
    options: CheckpointOptions,
    signal: AbortSignal,
  ): Promise<Recorder> {
    const space = makeRoom(place.checkpoints, place.limits.storeBytes);
    if (space.used > place.limits.storeBytes) throw storeFull(place);
    const workplace = Workplace.open(place, options);
    // The process may end right after it has said so.
    using _ = whenAborted(signal, () => workplace.close());
    try {
      const parts = await keepProject(workplace, place, { options, signal });
      return new Recorder(place, workplace, parts, { ...options, droppedSessions: space.droppedSessions });
    } catch (error) {
      workplace.close();
      throw error;
    }
  }

  /** Notes down that a call of a run is about to change something. */
  beginChanges(call: UpcomingCall): Promise<void> {
    const lock = { waitMs: LOCK_WAIT_MS, refusal: "an undo in this project does not come to an end" };
    return withMoveLock(this.place.project, lock, () => this.noteOpen(call));
  }

  private async noteOpen(call: UpcomingCall): Promise<void> {
    const changes = await this.parts.state.update();
    this.noticeOthers();
    const at = this.workplace.nextAt();
    this.workplace.segment.append({ type: "open", open: { at, ...call, changes } });
    this.open = { ...call, begunAt: now(), begunMs: monotonicMs(), rootMode: readMode(this.root) };
    this.signs ??= setInterval(() => this.workplace.segment.giveSign(), SIGN_MS);
    this.signs.unref();
    const { supersededBase } = this.parts;
    if (supersededBase !== undefined) rmSync(supersededBase, { force: true });
  }

  /** Notes down what has become of the project since. */
  async endChanges(): Promise<void> {
    const { open } = this;
    if (!open) return;
    this.stopSigns();
    try {
      this.noteStep(open, await this.parts.state.update());
    } catch (error) {
      // Then that much at least: what is not kept is not restored, and everything else is.
      const isTooLarge = error instanceof TooLargeError;
      if (isTooLarge || systemErrorCode(error) !== undefined)
        this.noteStep(open, await this.parts.state.update({ isLenient: true }), isTooLarge);
      throw error;
    }
    this.assertRoom();
  }

  private noteStep(call: OpenCall, all: readonly TreeChange[], isTooLarge = false): void {
    const { begunAt, begunMs, run, entryId } = call;
    const { root, sessionId } = this;
    const span = { project: this.place.project, root, sessionId, begunAt, written: call.written };
    const { changes, foreign, written } = splitChanges(all, span);
    const step = {
      ...{ id: randomHex(6), at: this.workplace.nextAt(), kind: "run" as const, run, entryId, changes },
      ...(foreign.length > 0 && { foreign }),
      ...(isTooLarge && { isTooLarge }),
      ...(written !== undefined && { written }),
      ...(written === undefined && changes.length > 0 && this.describeReach(monotonicMs() - begunMs)),
      ...(written === undefined && this.describeTouched()),
      ...(readMode(root) !== call.rootMode && { isRootChanged: true }),
      rootIdentity: readRootIdentity(root),
    };
    this.workplace.segment.append({ type: "step", step });
    this.open = undefined;
  }

  /** How far a call may have reached that could change anything. */
  private describeReach(durationMs: number) {
    const unseen = this.parts.state.caches.slice(0, MAX_UNSEEN);
    return { callMs: Math.round(durationMs), ...(unseen.length > 0 && { unseen }) };
  }

  private describeTouched(): { touched?: readonly string[] } {
    const touched = this.parts.state.touched.slice(0, MAX_UNSEEN);
    return touched.length > 0 ? { touched } : {};
  }

  /** Another process may have taken something back, by a clock that was ahead of ours. */
  private noticeOthers(): void {
    const generations = listGenerations(this.place.project);
    const own = this.workplace.segment.path;
    const size =
      generations.reduce((sum, each) => sum + sizeOf(sessionOf(each, this.sessionId)), 0) - sizeOfFile(own);
    if (size === this.othersSize) return;
    this.othersSize = size;
    this.workplace.noticeTime(lastTimeOf(readSegments(generations, this.sessionId)));
  }

  private stopSigns(): void {
    clearInterval(this.signs);
    this.signs = undefined;
  }

  /** Files whose content is not kept: what becomes of them cannot be taken back. */
  get unkept(): readonly string[] {
    return this.parts.state.unkept;
  }

  /** True while a call runs. */
  get isWorking(): boolean {
    return this.open !== undefined;
  }

  /** What is in it was never needed, if nothing was changed. */
  close(): void {
    this.stopSigns();
    if (this.workplace.segment.isEmpty) this.parts.store.discard();
    else this.parts.store.close();
    this.workplace.close();
  }

  private assertRoom(): void {
    const { storeBytes } = this.place.limits;
    if (this.parts.store.ownSize - this.checkedSize < storeBytes / 16) return;
    this.checkedSize = this.parts.store.ownSize;
    if (makeRoom(this.place.checkpoints, storeBytes).used > storeBytes) throw storeFull(this.place);
  }
}

function readMode(root: string): number | undefined {
  return findStats(root)?.mode;
}

function sizeOfFile(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** A call that goes on. */
export interface OpenCall {
  run: string;
  entryId: string | undefined;
  /** The only path that it changes, where it is known; relative to the project. */
  written?: string | undefined;
  begunAt: number;
  begunMs: number;
  /** Of the project's own directory. */
  rootMode: number | undefined;
}

type UpcomingCall = Pick<OpenCall, "run" | "entryId" | "written">;

interface KeptProject {
  /** What is no longer needed once this process has noted something down. */
  supersededBase: string | undefined;
  store: BlobStore;
  state: ProjectState;
  halfMove: Move | undefined;
}

async function keepProject(
  workplace: Workplace,
  place: CheckpointPlace,
  { options, signal }: { options: CheckpointOptions; signal: AbortSignal },
): Promise<KeptProject> {
  const slices = new Slices(signal);
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
    const halfMove = unfinishedRestorings(segments).current.at(-1)?.move;
    return { store, state, halfMove, supersededBase: "base" in known ? known.base : undefined };
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

/** Why nothing in a place is ever kept; undefined where it is. */
export function findPlaceObstacle({ root, environment }: CheckpointOptions): string | undefined {
  const home = homeDirectory(environment);
  const realHome = home === undefined ? undefined : findRealPath(home, "/");
  if (root === "/") return "the project is the whole file system";
  if (realHome === undefined || !isInside(realHome, root)) return undefined;
  return root === realHome ? "the project is your home directory" : "your home directory is in the project";
}

function storeFull({ limits, checkpoints }: CheckpointPlace): StoreFullError {
  const size = Math.round(limits.storeBytes / 1024 / 1024);
  return new StoreFullError(`checkpoints take more than ${size} MB (${checkpoints})`);
}
