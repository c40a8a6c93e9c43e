import { TimeSlicer } from "../../../infrastructure/async.ts";
import { readLines } from "../../../infrastructure/fs/read.ts";
import { type JsonRecord, parseRecord } from "./json-value.ts";
import type { ReadLimits } from "./types.ts";

/** Counts records that are skipped, by kind. */
export interface SkipCounter {
  skip(kind: string): void;
}

/**
 * The JSON objects of a file, one per line, in order. Lines that are no JSON object are counted as `invalid_line`, a
 * last line that was cut off as `torn_line`, and longer ones than `maxLineBytes` as `too_long_line`; what follows
 * `maxRecords` lines is not read, which counts once as `beyond_limit`. Other tasks of
 * this process run in between.
 * @throws the file system's error if it cannot be read.
 */
export async function* readRecords(
  path: string,
  {
    counter,
    limits: { maxLineBytes, maxRecords },
    signal,
  }: {
    counter: SkipCounter;
    limits: Pick<ReadLimits, "maxLineBytes" | "maxRecords">;
    signal?: AbortSignal | undefined;
  },
): AsyncGenerator<JsonRecord> {
  const slicer = new TimeSlicer(signal);
  let count = 0;
  for (const { text, isComplete, isCut } of readLines(path, { maxLineBytes, isSnapshot: true })) {
    if (slicer.isDue) await slicer.pause();
    if (++count > maxRecords) return counter.skip("beyond_limit");
    const record = isCut ? undefined : parseRecord(text);
    if (record) yield record;
    else if (text.trim() !== "")
      counter.skip(isCut ? "too_long_line" : isComplete ? "invalid_line" : "torn_line");
  }
}
