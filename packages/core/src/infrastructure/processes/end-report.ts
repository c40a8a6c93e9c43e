import { closeSync } from "node:fs";
import type { OutputPipe } from "./output-pipe.ts";

/**
 * What a program that stays for its background says on its descriptor 3: the line `begun` before it runs what it was
 * given, and when that has ended a line with its exit code, a space, and 1 where something runs on, else 0.
 */
export interface EndReport {
  hasBegun: boolean;
  /** Undefined from a program that ended without. */
  end?: { exitCode: number; runsOn: boolean };
}

const BEGUN = "begun\n";
const REPORT = /^begun\n(\d{1,3}) ([01])\n/;
// What is longer is no report.
const MAX_CHARACTERS = 64;

/** The report, once it is whole or the program has ended. Whoever opened the pipe closes its write end. */
export async function readEndReport({ readEnd }: Pick<OutputPipe, "readEnd">): Promise<EndReport> {
  const reader = Bun.file(readEnd).stream().pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    while (!REPORT.test(text) && text.length <= MAX_CHARACTERS) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
    }
  } catch {
    // Then the end of the program itself counts.
  } finally {
    await reader.cancel().catch(() => undefined);
    closeSync(readEnd);
  }
  const [, exitCode, runsOn] = REPORT.exec(text) ?? [];
  const hasBegun = text.startsWith(BEGUN);
  return exitCode === undefined
    ? { hasBegun }
    : { hasBegun, end: { exitCode: Number(exitCode), runsOn: runsOn === "1" } };
}
