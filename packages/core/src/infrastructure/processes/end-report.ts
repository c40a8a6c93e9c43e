import { closeSync } from "node:fs";
import type { OutputPipe } from "./output-pipe.ts";

/**
 * What a program that stays for its background says on its descriptor 3 when the foreground has ended: one line with its
 * exit code, a space, and 1 where something runs on, else 0.
 */
export interface EndReport {
  exitCode: number;
  runsOn: boolean;
}

const REPORT = /^(\d{1,3}) ([01])\n/;

/** The report, or undefined from a program that ended without one. Whoever opened the pipe closes its write end. */
export async function readEndReport({
  readEnd,
}: Pick<OutputPipe, "readEnd">): Promise<EndReport | undefined> {
  const reader = Bun.file(readEnd).stream().getReader();
  try {
    const { value } = await reader.read();
    const [, exitCode, runsOn] = REPORT.exec(new TextDecoder().decode(value)) ?? [];
    return exitCode === undefined ? undefined : { exitCode: Number(exitCode), runsOn: runsOn === "1" };
  } catch {
    return undefined; // Then the end of the program itself counts.
  } finally {
    await reader.cancel().catch(() => undefined);
    closeSync(readEnd);
  }
}
