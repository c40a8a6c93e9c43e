import { randomHex } from "../../infrastructure/random-hex.ts";
import { pathKind } from "../../infrastructure/reading/path-kind.ts";
import type { OpenedSession } from "../open-history.ts";
import { readRootIdentity } from "../root-identity.ts";
import { Slices } from "../slices.ts";
import { type PlannedChange, planRollBack } from "../timeline/roll-back.ts";
import { firstAttempt, stepsBackTo } from "../timeline/timeline.ts";
import type { Move, Restoring, Step } from "../timeline/types.ts";
import type { MoveOptions } from "../types.ts";
import { adoptRestoring } from "./adopt-restoring.ts";
import { type Judgement, judgeChange } from "./judge-change.ts";
import { MadeDirectory } from "./made-directory.ts";
import { planRestoring, restoreChanges } from "./restore-changes.ts";
import type { RestoredPaths } from "./restore-work.ts";

/** What is to be done. */
export interface Wanted {
  move: Move;
  /** The step before which everything stood that is to be restored. */
  target: Step;
  judged: readonly Judgement[];
  /** True for what puts back what `target` had done before it was stopped or cut off. */
  isRollBack?: boolean;
  options: Pick<MoveOptions, "signal" | "onProgress">;
}

/** What was done. Where it was stopped on the way, this is what came of putting everything back. */
export interface CarriedOut {
  judged: readonly Judgement[];
  paths: RestoredPaths;
  isStopped: boolean;
}

type Session = Pick<OpenedSession, "workplace" | "store" | "judging" | "steps">;

/** Restores files. What is to be done is noted down before, and what was done afterwards. @throws errors of the store. */
export async function carryOut(session: Session, wanted: Wanted): Promise<CarriedOut> {
  const { store, judging } = session;
  const { root } = judging;
  const { judged, isRollBack, options } = wanted;
  // A run may have taken away the project itself. What has taken its place is never touched.
  using _ = pathKind(root) === "missing" ? new MadeDirectory(root) : undefined;
  const restoring = begin(session, wanted);
  const onProgress = (done: number, total: number) =>
    options.onProgress?.({ doing: isRollBack ? "rollBack" : "restore", done, total });
  const toRestore = judged.filter((each) => each.kind === "restore");
  const work = { root, store, restoring, signal: options.signal, onProgress };
  const paths = await restoreChanges(toRestore, work);
  if (!paths) return await putBack(session, restoring, options);
  const step = { ...nameStep(session, restoring), ...describeDone(paths, wanted) };
  session.workplace.segment.append({ type: "step", step });
  return { judged, paths, isStopped: false };
}

function begin(
  { workplace, store, judging }: Session,
  { move, target, judged, isRollBack }: Wanted,
): Restoring {
  const toRestore = judged.filter((each) => each.kind === "restore");
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
  const { move, target, judged, isRollBack = false } = wanted;
  const settled = judged.filter((each) => each.kind === "settled");
  // What was cut off at its very end has nothing left to do.
  const isAllSettled = settled.length === judged.length && (move !== "undo" || judged.length === 0);
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
 * Puts back what a restoration has done that was stopped: as with one that was cut off, what it has done so far is noted down
 * and turned round. What cannot be put back can be tried again, or gone on with.
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
  // What was cut off before, and was gone on with by this, is put back as well.
  const first = firstAttempt(steps, target, ({ isAdopted }) => isAdopted === true);
  const judged = await judgeAll(planRollBack(stepsBackTo(steps, first)), judging);
  const back = { move: opposite, target, judged, isRollBack: true } as const;
  const { paths } = await carryOut(session, { ...back, options: { onProgress } });
  return { judged, paths, isStopped: true };
}

/** @throws StoppedError once the signal is aborted. */
export async function judgeAll(
  planned: readonly PlannedChange[],
  judging: OpenedSession["judging"],
  { signal, onProgress }: Wanted["options"] = {},
): Promise<Judgement[]> {
  const slices = new Slices(signal);
  const judged: Judgement[] = [];
  for (const change of planned) {
    if (slices.isDue) {
      onProgress?.({ doing: "look", done: judged.length, total: planned.length });
      await slices.pause();
    }
    judged.push(await judgeChange(change, judging));
  }
  return judged;
}
