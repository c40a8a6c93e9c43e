import { rmSync } from "node:fs";
import { systemErrorCode } from "../infrastructure/system-error.ts";
import { type OpenCall, openCall, toStep, type UpcomingCall } from "./call-step.ts";
import { type KeptProject, keepProject, whenAborted } from "./keep-project.ts";
import { withMoveLock } from "./move-lock.ts";
import { OtherSegments } from "./store/other-segments.ts";
import { StoreRoom } from "./store/store-room.ts";
import type { Move } from "./timeline/types.ts";
import { TooLargeError } from "./tree/project-state.ts";
import type { TreeChange } from "./tree-entry.ts";
import type { CheckpointOptions } from "./types.ts";
import { type CheckpointPlace, Workplace } from "./workplace.ts";

// A process that has just died is found out at once; a long undo takes its time.
const LOCK_WAIT_MS = 60_000;

interface RecorderParts {
  place: CheckpointPlace;
  options: CheckpointOptions;
  workplace: Workplace;
  room: StoreRoom;
  kept: KeptProject;
}

/** Follows what becomes of a project while a session works in it. Its methods are called one after the other. */
export class Recorder {
  private readonly others: OtherSegments;
  private open: OpenCall | undefined;

  private constructor(private readonly parts: RecorderParts) {
    const { place, options, workplace } = parts;
    const { sessionId } = options;
    this.others = new OtherSegments({ project: place.project, sessionId, ownPath: workplace.segment.path });
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
  get halfMove(): Move | undefined {
    return this.parts.kept.halfMove;
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
    const lock = { waitMs: LOCK_WAIT_MS, refusal: "an undo in this project does not come to an end" };
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
    const changes = await kept.state.update();
    // Another process may have taken something back, by a clock that was ahead of ours.
    const othersAt = this.others.findNewTime();
    if (othersAt !== undefined) workplace.noticeTime(othersAt);
    workplace.segment.append({ type: "open", open: { at: workplace.nextAt(), ...call, changes } });
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
