import type { ToolCallBlock } from "../types.ts";

/**
 * After this many identical results for the same call, the first included, the model is warned. A polling call
 * eventually gets a different result; without one there is no progress.
 */
const WARN_AFTER_REPEATS = 3;
/** After this many identical results, the first included, the run ends: the warning did not help. */
const STOP_AFTER_REPEATS = 5;
/** How many calls are remembered: long enough for a cycle of four different calls to reach the limit. */
export const LOOP_WINDOW = 20;

/** The effect of a repeated call on the run: `warn` adds a warning to the result for the model, `stop` ends the run. */
export interface LoopVerdict {
  action: "none" | "warn" | "stop";
  /** How often this call has had this result within the window. */
  repeats: number;
}

/** Detects a model that repeats itself: the same call keeps giving the same result. */
export class LoopDetector {
  private readonly recent: string[] = [];
  private changes = 0;

  /**
   * @param result what the call returned, excluding parts that differ from run to run, such as a temporary path.
   * @param isChange true when the call changed files: a test that still fails after another edit is not a repetition.
   */
  observe(call: ToolCallBlock, result: string, isChange = false): LoopVerdict {
    const state = isChange ? "" : String(this.changes);
    if (isChange) this.changes++;
    const fingerprint = `${state}\0${call.name}\0${canonicalJson(call.input)}\0${call.invalidInput ?? ""}\0${hashText(result)}`;
    this.recent.push(fingerprint);
    if (this.recent.length > LOOP_WINDOW) this.recent.shift();
    const repeats = this.recent.filter((other) => other === fingerprint).length;
    if (repeats >= STOP_AFTER_REPEATS) return { action: "stop", repeats };
    return { action: repeats >= WARN_AFTER_REPEATS ? "warn" : "none", repeats };
  }
}

/** JSON with the keys of every object in order, so that equal arguments give equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}

function hashText(text: string): string {
  return Bun.hash(text).toString(36);
}
