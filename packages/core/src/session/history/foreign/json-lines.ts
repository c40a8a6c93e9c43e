import { TimeSlicer } from "../../../infrastructure/async.ts";
import { readLines } from "../../../infrastructure/fs/read.ts";
import { type JsonRecord, parseRecord } from "./json-value.ts";

/** Counts records that are skipped, by kind. */
export interface SkipCounter {
  skip(kind: string): void;
}

/**
 * The JSON objects of a file, one per line, in order. Lines that are no JSON object are counted as `invalid_line`, a
 * last line that was cut off as `torn_line`, and longer ones than `maxLineBytes` as `too_long_line`. Other tasks of
 * this process run in between.
 * @throws the file system's error if it cannot be read.
 */
export async function* readRecords(
  path: string,
  {
    counter,
    maxLineBytes,
    signal,
  }: { counter: SkipCounter; maxLineBytes: number; signal?: AbortSignal | undefined },
): AsyncGenerator<JsonRecord> {
  const slicer = new TimeSlicer(signal);
  for (const { text, isComplete, isCut } of readLines(path, { maxLineBytes })) {
    if (slicer.isDue) await slicer.pause();
    const record = isCut ? undefined : parseRecord(text);
    if (record) yield record;
    else if (text.trim() !== "")
      counter.skip(isCut ? "too_long_line" : isComplete ? "invalid_line" : "torn_line");
  }
}
