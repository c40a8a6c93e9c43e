import { lstatSync } from "node:fs";
import { randomHex } from "../../infrastructure/random-hex.ts";
import { toSystemPath } from "../../infrastructure/reading/byte-name.ts";
import type { CutOffTurn } from "../store/known-entries.ts";
import type { TreeChange } from "../tree-entry.ts";
import type { Step } from "./types.ts";

// The kernel's clock for files is behind by that much at most: what seems older than the last sign may be newer, and somebody
// else's.
const TICK_MS = 40;

/**
 * The line for a turn that was cut off. Its work may be what has changed between its beginning and the last sign of life of
 * its process, and what is gone; everything else is certainly somebody else's.
 */
export function toCutOffStep(
  root: string,
  { open, lastSignAt }: Pick<CutOffTurn, "open" | "lastSignAt">,
  { at, changes }: { at: number; changes: readonly TreeChange[] },
): { type: "step"; step: Step } {
  const { run, entryId } = open;
  const isMeanwhile = ({ path, after }: TreeChange) => {
    if (after === undefined) return true;
    const changedMs = changeTimeOf(`${root}/${path}`);
    return changedMs >= open.at - TICK_MS && changedMs <= lastSignAt - TICK_MS;
  };
  const step = {
    ...{ id: randomHex(6), at, kind: "run" as const, run, entryId, isCutOff: true },
    changes: changes.filter(isMeanwhile),
    foreign: changes.filter((change) => !isMeanwhile(change)),
  };
  return { type: "step", step };
}

/** Milliseconds since the epoch; endless for what cannot be told. */
function changeTimeOf(absolute: string): number {
  try {
    return lstatSync(toSystemPath(absolute)).ctimeMs;
  } catch {
    return Number.POSITIVE_INFINITY; // It went away just now: somebody else's work.
  }
}
