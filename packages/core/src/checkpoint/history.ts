import { now } from "../infrastructure/clock.ts";
import { BusySessionError, withMoveLock } from "./move-lock.ts";
import {
  findWorker,
  type OpenedSession,
  type OpeningOptions,
  type OwnWork,
  withOpenedSession,
} from "./open-history.ts";
import { carryOut, judgeAll } from "./restore/carry-out.ts";
import type { Judgement } from "./restore/judge-change.ts";
import { toRestoration, toStoppedRestoration } from "./restore/to-restoration.ts";
import { readVersions } from "./session-changes.ts";
import { StoppedError } from "./slices.ts";
import { listGenerations } from "./store/store-place.ts";
import { planRollBack } from "./timeline/roll-back.ts";
import {
  findCutOffTarget,
  findHalfDone,
  findRedoTarget,
  firstAttempt,
  firstStepBehind,
  firstStepOf,
  hasChanged,
  isInVain,
  replaySteps,
  stepsBackTo,
} from "./timeline/timeline.ts";
import type { Move, Step } from "./timeline/types.ts";
import type { CheckpointOptions, MoveOptions, Restoration, SessionChange } from "./types.ts";
import type { CheckpointPlace } from "./workplace.ts";

// Whoever begins a call holds the lock for a look at the project; a second undo is to be told soon.
const LOCK_WAIT_MS = 2_000;

/** What a session has done so far, and how to take it back. Everything is read anew each time: others may have gone on. */
export class History {
  constructor(
    private readonly place: CheckpointPlace,
    private readonly options: CheckpointOptions,
    private readonly own: OwnWork = {},
  ) {}

  /**
   * Takes back what the last run that stands has changed. Undefined when there is none. Where nothing of it can be taken
   * back, it stays the last one, and asking once more goes on to the one before. A redo that was done by halves comes first.
   * @throws BusySessionError while another process works on the session, OtherProjectError, and errors of the store.
   */
  undo(options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("undo", options, (steps) => {
      if (options.isCutOff) return [findCutOffTarget(steps)];
      const runs = replaySteps(steps).runs.filter((run) => hasChanged(steps, run));
      return runs.map((run) => firstStepOf(steps, run)).reverse();
    });
  }

  /** Brings back what was taken back last, be it by halves. Undefined when there is nothing. @throws as `undo` does. */
  redo(options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("redo", options, (steps) => [findRedoTarget(steps)]);
  }

  /**
   * Brings the files to where they were at a place of the conversation. Undefined when that is where they are.
   * @param entryIds the entries from the beginning of the conversation to that place.
   * @throws as `undo` does.
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
    const refusal = "Another undo or redo is going on in this project: try again when it is done.";
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
    if (worker !== undefined) throw new BusySessionError(`${worker} is working in this session right now.`);
    const turned = findHalfDone(session.steps, move);
    const targets = turned ? [turned] : findTargets(session.steps).filter((target) => target !== undefined);
    const begin = (target: Step) => (turned ? firstAttempt(session.steps, turned) : target);
    const chosen = await chooseTarget(targets, session, { ...options, begin });
    const { target, judged } = chosen ?? { target: undefined, judged: [] };
    const { steps, damagedLines } = session;
    const leftCutOff = move === "undo" && !options.isCutOff ? listCutOff(steps) : [];
    if (!target && leftCutOff.length === 0) return undefined;
    const isDone = target && !options.isDryRun;
    // To turn round what was done by halves is the way out already: that is not stopped.
    const how = turned ? { isRollBack: true, options: { ...options, signal: undefined } } : { options };
    const done = isDone ? await carryOut(session, { move, target, judged, ...how }) : undefined;
    if (done?.isStopped) return toStoppedRestoration(move, done);
    const paths = done?.paths;
    const undone = target ? stepsBackTo(steps, target) : [];
    const isDryRun = options.isDryRun === true;
    return toRestoration({ move, judged, paths, target, undone, leftCutOff, damagedLines, isDryRun });
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
  judged: Judgement[];
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
    chosen = { target, judged: await judgeAll(planned, judging, options) };
    if (chosen.judged.some(({ kind }) => kind === "restore") || !wasTriedInVain(target, steps)) break;
  }
  return chosen;
}

function wasTriedInVain({ id }: Step, steps: readonly Step[]): boolean {
  const last = steps.findLastIndex((step) => !isInVain(step));
  return steps.slice(last + 1).some(({ to }) => to === id);
}
