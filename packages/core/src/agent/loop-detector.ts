import type { ToolCallBlock } from "../types.ts";

/** After this many identical calls in a row, the first included, the model is told. */
const WARN_AFTER_REPEATS = 3;
/** After this many, somebody has to say that the run continues: telling the model did not help. */
const STOP_AFTER_REPEATS = 6;

/** The effect of a repeated call on the run: `warn` adds a note to the result for the model, `stop` ends the run. */
export interface LoopVerdict {
  action: "none" | "warn" | "stop";
  /** How often in a row this call has had this result. */
  repeats: number;
}

/**
 * Detects a model that repeats itself: the same call with the same result, again and again without anything in between.
 * Other calls in between, a changed file or another result mean that something moves.
 */
export class LoopDetector {
  private last = "";
  private repeats = 0;
  private lastChangeCount: number | undefined;

  /**
   * @param result what the call returned, excluding parts that differ from run to run, such as a temporary path.
   * @param countChanges how many times files of the project have changed so far; asked only for a repeated call, since
   * the answer may have to wait. Undefined if nobody knows.
   */
  async observe(
    call: ToolCallBlock,
    result: string,
    countChanges: () => Promise<number | undefined> = async () => undefined,
  ): Promise<LoopVerdict> {
    const fingerprint = `${call.name}\0${canonicalJson(call.input)}\0${call.invalidInput ?? ""}\0${hashText(result)}`;
    if (fingerprint !== this.last) return this.begin(fingerprint);
    const changeCount = await countChanges();
    const hasChanged = this.repeats > 1 && changeCount !== this.lastChangeCount;
    this.lastChangeCount = changeCount;
    if (hasChanged) this.repeats = 1;
    this.repeats++;
    if (this.repeats >= STOP_AFTER_REPEATS) return { action: "stop", repeats: this.repeats };
    return { action: this.repeats >= WARN_AFTER_REPEATS ? "warn" : "none", repeats: this.repeats };
  }

  /** Starts counting anew: somebody said that the run continues, or a call waits for something by design. */
  reset(): void {
    this.last = "";
    this.repeats = 0;
  }

  private begin(fingerprint: string): LoopVerdict {
    this.last = fingerprint;
    this.repeats = 1;
    return { action: "none", repeats: 1 };
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
