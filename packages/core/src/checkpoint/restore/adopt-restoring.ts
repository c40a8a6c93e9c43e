import { Slices } from "../slices.ts";
import { isOpposite } from "../timeline/timeline.ts";
import type { Move, Restoring, Step } from "../timeline/types.ts";
import { isSameState, type TreeChange, type TreeEntry } from "../tree-entry.ts";
import { type JudgeOptions, lookAtPath, type Present } from "./judge-change.ts";

const PRIVATE_DIRECTORY = 0o700;

/**
 * What a restoration that was stopped or cut off has done so far. Of a path that is neither as it was nor as it should have
 * become, nor certainly on the way, nothing is said: somebody else has changed it since.
 * @param wanted what is to be done now: where all is turned round, that is a conflict.
 */
export async function adoptRestoring(
  restoring: Restoring,
  wanted: Move,
  options: JudgeOptions,
): Promise<Omit<Step, "at">> {
  const slices = new Slices();
  const { id, to, move, isCutOff, isRollBack } = restoring;
  const changes: TreeChange[] = [];
  for (const change of restoring.changes) {
    if (slices.isDue) await slices.pause();
    const present = await lookAtPath(change.path, options);
    if (present?.kind === "special" || present?.kind === "unknown") continue;
    if (isSameState(present, change.before)) continue;
    if (isSameState(present, change.after) || isOnTheWay(present, change, { restoring, options }))
      changes.push({ ...change, after: present });
    // Turned round, it is a conflict; gone on with, it is one anyway.
    else if (!isRollBack && isOpposite(move, wanted)) changes.push(change);
  }
  return {
    id,
    to,
    move,
    isCutOff,
    isAdopted: true,
    ...(isRollBack && { isRollBack }),
    kind: "partial",
    changes,
  };
}

function isOnTheWay(
  present: Exclude<Present, { kind: "special" } | { kind: "unknown" }>,
  { path, before, after }: TreeChange,
  { restoring, options }: { restoring: Restoring; options: JudgeOptions },
): boolean {
  // One kind had made room, and the other had not come yet.
  if (present === undefined) return before !== undefined && after !== undefined && before.kind !== after.kind;
  if (present.kind === "directory") {
    if (after?.kind === "directory" && before?.kind !== "directory")
      return present.mode === PRIVATE_DIRECTORY;
    return restoring.opened.some(
      ([each, mode]) => each === path && present.mode === (mode | PRIVATE_DIRECTORY),
    );
  }
  return (
    present.kind === "file" &&
    restoring.inPlace.includes(path) &&
    isHalfWritten(present, { before, after }, options)
  );
}

/** True for a content of which every byte is of the old or the new one, as far as it had been written in place. */
function isHalfWritten(
  present: Extract<TreeEntry, { kind: "file" }>,
  { before, after }: Pick<TreeChange, "before" | "after">,
  { store }: JudgeOptions,
): boolean {
  if (before?.kind !== "file" || after?.kind !== "file") return false;
  const [old, wanted, now] = [before.hash, after.hash, present.hash].map((hash) =>
    hash === undefined ? undefined : store.read(hash)?.slice(),
  );
  if (!old || !wanted || !now || now.length < 1) return false;
  // A mode is set last.
  if (isSameBytes(now, wanted)) return true;
  let same = 0;
  while (same < now.length && now[same] === wanted[same]) same++;
  // From there on the old one goes on; what lies beyond its end was written first.
  return (
    isSameBytes(now.subarray(same, old.length), old.subarray(same)) &&
    isSameBytes(now.subarray(old.length), wanted.subarray(old.length, now.length))
  );
}

function isSameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
