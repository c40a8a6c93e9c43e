import type { ControlFile } from "./control-file.ts";
import type { Reveal } from "./control-findings.ts";
import type { ControlLook, UnlistableDirectory } from "./control-look.ts";
import type { ControlWatch } from "./control-watch.ts";
import { findOutOfSight } from "./out-of-sight.ts";

// One who hides directories in each other gets no further looks for it.
const MAX_LOOKS = 4;

/**
 * Looks, and again where directories that were in sight before are found to be out of it now: they are followed there.
 * `lost` are control files that may be anywhere.
 */
export function lookEverywhere(
  watch: ControlWatch,
  before: ControlLook,
  reveal: Reveal,
): { look: ControlLook; lost: readonly ControlFile[] } {
  const isKnown = ({ identity }: UnlistableDirectory) => before.unlistable.has(identity);
  let look = watch.look(reveal);
  for (let looks = 1; looks < MAX_LOOKS; looks += 1) {
    // What is still to be opened may hold what is missing.
    if (!look.isComplete || ![...look.unlistable.values()].every(isKnown)) break;
    const { found, lost, isComplete } = findOutOfSight(before, look);
    if (found.length === 0) return { look, lost: isComplete ? [] : lost };
    watch.follow(found);
    look = watch.look(reveal);
  }
  return { look, lost: [] };
}
