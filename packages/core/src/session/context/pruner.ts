import { type PruningLimits, planPruning } from "../pruning.ts";
import type { SessionLog } from "../session-log.ts";
import { LAST_RESORTS } from "./last-resort.ts";

/** Shortens tool results of a session, by entries of it; both ways say whether anything was shortened. */
export class Pruner {
  constructor(
    private readonly log: SessionLog,
    private readonly limits: PruningLimits,
  ) {}

  /** The old ones, once enough of them can go. */
  pruneOld(): boolean {
    return this.prune(this.limits);
  }

  /** The newest, too, however small, and no more of each than it takes until the request `fits`. */
  pruneNewest(fits: () => boolean): boolean {
    let isChanged = false;
    for (const limits of LAST_RESORTS) {
      if (fits()) return isChanged;
      isChanged = this.prune(limits) || isChanged;
    }
    return isChanged;
  }

  private prune(limits: PruningLimits): boolean {
    const plan = planPruning(this.log.path(), limits);
    if (plan) this.log.append((place) => ({ type: "prune", ...place, ...plan }));
    return plan !== undefined;
  }
}
