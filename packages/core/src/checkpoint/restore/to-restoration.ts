import type { PlannedChange } from "../timeline/roll-back.ts";
import type { Move, Step } from "../timeline/types.ts";
import type { Restoration, RestoredPath } from "../types.ts";
import type { Judgement, Present } from "./judge-change.ts";
import type { RestoredPaths } from "./restore-work.ts";

/** What was wanted, judged and done: what a person is told of follows from it. */
export interface RestorationParts {
  move: Move;
  judged: readonly Judgement[];
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
export function toRestoration(parts: RestorationParts): Restoration {
  const { move, judged, paths, target } = parts;
  // The runs behind the last one that stands were taken back before.
  const undone = parts.undone.filter(({ run }) => move !== "undo" || run === target?.run);
  const done = paths?.done ?? judged.flatMap((each) => (each.kind === "restore" ? [each.change] : []));
  const conflicts = judged.flatMap((each) => {
    if (each.kind === "conflict")
      return [{ path: each.change.path, reason: describePresent(each.change, each.present) }];
    const isKept = each.kind !== "lost" && each.change.isCut;
    return isKept ? [{ path: each.change.path, reason: describeCut(each.change) }] : [];
  });
  const judgedPaths = new Set(judged.map(({ change }) => change.path));
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
    notKept: judged.flatMap((each) => (each.kind === "lost" ? [toNotKept(each)] : [])).sort(byPath),
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
function describeTouched({ undone, target }: RestorationParts): Pick<Restoration, "touched"> {
  const changing = new Set(undone.filter(({ changes }) => changes.length > 0).map(({ run }) => run));
  const touched = undone
    .filter(({ kind, run }) => kind === "run" && (run === target?.run || !changing.has(run)))
    .flatMap((step) => step.touched ?? []);
  return touched.length > 0 ? { touched: [...new Set(touched)].sort() } : {};
}

/** It was stopped, and all of it put back, but for what is said. @param back left out where nothing had been done. */
export function toStoppedRestoration(
  move: Move,
  back?: Pick<RestorationParts, "judged" | "paths">,
): Restoration {
  const { judged = [], paths } = back ?? {};
  const nothing = { target: undefined, undone: [], leftCutOff: [], damagedLines: 0, isDryRun: false };
  return { ...toRestoration({ move, judged, paths, ...nothing }), restored: [], isStopped: true };
}

/** What changed meanwhile, and is not certainly the session's work. What file tools write is known: the rest is not theirs. */
function listForeign(undone: readonly Step[]): { path: string; reason: string }[] {
  const reasons = new Map<string, string>();
  for (const { kind, written, isCutOff, foreign = [] } of undone) {
    if (kind !== "run" || written !== undefined) continue;
    const reason = isCutOff
      ? "changed after the run was cut off"
      : "changed while another session was at work too";
    for (const { path } of foreign) reasons.set(path, reason);
  }
  return [...reasons].map(([path, reason]) => ({ path, reason }));
}

function toNotKept({ change: { path }, isCache, isControl }: Extract<Judgement, { kind: "lost" }>) {
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
  if (present.kind === "unknown") return "it may not be looked at";
  return expected === undefined ? "created anew since" : "changed since";
}

/** The session has changed it both before and after somebody else did. */
function describeCut({ target }: PlannedChange): string {
  if (target === undefined) return "removed by somebody else in between, and so it is again";
  return "changed by somebody else in between, and as they left it";
}

function byPath(left: { path: string }, right: { path: string }): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}
