import { mkdirSync } from "node:fs";
import { now } from "../infrastructure/clock.ts";
import { randomHex } from "../infrastructure/random-hex.ts";
import { pathKind } from "../infrastructure/reading/path-kind.ts";
import { BusySessionError, withMoveLock } from "./move-lock.ts";
import {
  findWorker,
  type OpenedSession,
  type OpeningOptions,
  type OwnWork,
  withOpenedSession,
} from "./open-history.ts";
import { type Judgement, judgeChange } from "./restore/judge-change.ts";
import { planRestoring, type RestoredPaths, restoreChanges } from "./restore/restore-changes.ts";
import { toRestoration } from "./restore/to-restoration.ts";
import { readRootIdentity } from "./root-identity.ts";
import { readVersions } from "./session-changes.ts";
import { Slices } from "./slices.ts";
import { listGenerations } from "./store/store-place.ts";
import { planRollBack } from "./timeline/roll-back.ts";
import {
  findCutOffTarget,
  findRedoTarget,
  firstStepBehind,
  firstStepOf,
  replaySteps,
  stepsBackTo,
} from "./timeline/timeline.ts";
import type { Move, Step } from "./timeline/types.ts";
import type { CheckpointOptions, Restoration, SessionChange } from "./types.ts";
import type { CheckpointPlace } from "./workplace.ts";

// Whoever begins a call holds the lock for a look at the project; a second undo is to be told soon.
const LOCK_WAIT_MS = 2_000;

export interface MoveOptions {
  /** Only says what would be done. */
  isDryRun?: boolean | undefined;
  /** For `undo`: takes back the last turn that was cut off, as far as it may be its work. */
  isCutOff?: boolean | undefined;
  /** Told now and then how many of how many paths are done. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** What a session has done so far, and how to take it back. Everything is read anew each time: others may have gone on. */
export class History {
  constructor(
    private readonly place: CheckpointPlace,
    private readonly options: CheckpointOptions,
    private readonly own: OwnWork = {},
  ) {}

  /**
   * Takes back what the last run that stands has changed. Undefined when there is none. Where nothing of it can be taken
   * back, it stays the last one, and asking once more goes on to the one before.
   * @throws BusySessionError while another process works on the session, OtherProjectError, and errors of the store.
   */
  undo(options: MoveOptions = {}): Promise<Restoration | undefined> {
    return this.move("undo", options, (steps) => {
      if (options.isCutOff) return [findCutOffTarget(steps)];
      const firsts = replaySteps(steps).runs.map((run) => firstStepOf(steps, run));
      // A run that has put everything back itself is none to speak of.
      return firsts.filter((step) => step && planRollBack(stepsBackTo(steps, step)).length > 0).reverse();
    });
  }

  /** Brings back what was taken back last. Undefined when there is nothing. @throws as `undo` does. */
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
      return [step && planRollBack(stepsBackTo(steps, step)).length > 0 ? step : undefined];
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
    const { isDryRun: isReading = false } = options;
    // Where nothing was ever kept, not even a lock is left behind.
    if (listGenerations(this.place.project).length === 0) return Promise.resolve(undefined);
    const begunAt = now();
    const refusal = "Another undo or redo is going on in this project: try again when it is done.";
    return withMoveLock(this.place.project, { waitMs: LOCK_WAIT_MS, refusal }, (hadToWait) =>
      withOpenedSession(this.opening({ isReading, move }), (session) => {
        // Of two who ask for the same at the same time, one is served.
        const last = session.steps.at(-1);
        if (hadToWait && last && last.kind !== "run" && last.at >= begunAt)
          throw new BusySessionError(refusal);
        return this.moveOpened(move, options, { session, findTargets });
      }),
    );
  }

  private opening(what: Pick<OpeningOptions, "isReading" | "move">): OpeningOptions {
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
    const targets = findTargets(session.steps).filter((target) => target !== undefined);
    const chosen = await chooseTarget(targets, session);
    const { target, judged } = chosen ?? { target: undefined, judged: [] };
    const { steps, damagedLines } = session;
    const leftCutOff = move === "undo" && !options.isCutOff ? listCutOff(steps) : [];
    if (!target && leftCutOff.length === 0) return undefined;
    const isDone = target && !options.isDryRun;
    const paths = isDone ? await this.restore(move, target, { session, judged, options }) : undefined;
    const undone = target ? stepsBackTo(steps, target) : [];
    const isDryRun = options.isDryRun === true;
    return toRestoration({ move, judged, paths, target, undone, leftCutOff, damagedLines, isDryRun });
  }

  private async restore(
    move: Move,
    target: Step,
    {
      session,
      judged,
      options,
    }: { session: OpenedSession; judged: readonly Judgement[]; options: MoveOptions },
  ): Promise<RestoredPaths> {
    const { root } = this.options;
    const { workplace, store } = session;
    // A run may have taken away the project itself. What has taken its place is never touched.
    if (pathKind(root) === "missing") mkdirSync(root, { recursive: true });
    const wanted = judged.filter((each) => each.kind === "restore");
    const restoring = planRestoring(root, wanted, {
      ...{ id: randomHex(6), to: target.id, move, isCutOff: target.isCutOff },
      ...{ at: workplace.nextAt(), temporaryName: `.diligent-${randomHex(6)}.tmp` },
    });
    store.flush();
    if (wanted.length > 0) workplace.segment.append({ type: "restoring", restoring });
    const paths = await restoreChanges(wanted, { root, store, restoring, onProgress: options.onProgress });
    const settled = judged.filter((each) => each.kind === "settled");
    const changes = [...paths.done, ...settled.map(({ change }) => change)].map((change) => ({
      path: change.path,
      before: change.expected,
      after: change.target,
    }));
    const isAnswered = isCutOffMove(target) || (move !== "undo" && settled.length === judged.length);
    const isOfUse = paths.done.length > 0 || isAnswered;
    const { id, to, isCutOff } = restoring;
    const kind: Step["kind"] = isOfUse && paths.failures.length === 0 ? move : "partial";
    const line = { id, at: workplace.nextAt(), kind, to, isCutOff, rootIdentity: readRootIdentity(root) };
    // Where nothing could be done, only that this was tried is said, so that the next undo may go further back.
    workplace.segment.append({ type: "step", step: { ...line, changes: isOfUse ? changes : [] } });
    return paths;
  }
}

function isCutOffMove({ isCutOff, kind }: Step): boolean {
  return isCutOff === true && kind === "run";
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
async function chooseTarget(targets: readonly Step[], session: OpenedSession): Promise<Chosen | undefined> {
  let chosen: Chosen | undefined;
  for (const target of targets) {
    chosen = { target, judged: await judgeAll(target, session) };
    if (chosen.judged.some(({ kind }) => kind === "restore") || !wasTriedInVain(target, session.steps)) break;
  }
  return chosen;
}

function wasTriedInVain({ id }: Step, steps: readonly Step[]): boolean {
  const last = steps.findLastIndex(({ kind, changes }) => kind !== "partial" || changes.length > 0);
  return steps.slice(last + 1).some(({ to }) => to === id);
}

async function judgeAll(target: Step, { steps, judging }: OpenedSession): Promise<Judgement[]> {
  const slices = new Slices();
  const judged: Judgement[] = [];
  for (const change of planRollBack(stepsBackTo(steps, target))) {
    if (slices.isDue) await slices.pause();
    judged.push(await judgeChange(change, judging));
  }
  return judged;
}
