import { isSameState, type TreeEntry } from "../tree-entry.ts";
import type { Step } from "./types.ts";

/** What has to become of a path. */
export interface PlannedChange {
  path: string;
  /** What the session left there; what is something else now, somebody else has changed since. */
  expected: TreeEntry | undefined;
  target: TreeEntry | undefined;
  /**
   * True when somebody else has changed it in between: the target is then what they made of it, and what the session did
   * before that stays in it.
   */
  isCut: boolean;
}

/**
 * What takes the project from the end of all steps back to the beginning of the first. Between two steps others may
 * have changed something: that is found where the steps do not fit together.
 */
export function planRollBack(steps: readonly Step[]): PlannedChange[] {
  const planned = new Map<string, PlannedChange>();
  for (const { changes } of steps.toReversed()) {
    for (const { path, before, after } of changes) {
      const later = planned.get(path);
      if (!later) planned.set(path, { path, expected: after, target: before, isCut: false });
      else if (!later.isCut && isSameState(later.target, after)) later.target = before;
      // What others did came to nothing else than what is to be restored anyway.
      else later.isCut = !isSameState(later.target, before);
    }
  }
  return [...planned.values()].filter(
    ({ expected, target, isCut }) => isCut || !isSameState(expected, target),
  );
}
