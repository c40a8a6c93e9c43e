import { join } from "node:path";
import type { SessionManager } from "@diligent/core/run";
import { forgetCountedTexts } from "../../../core/test/support/token-counting.ts";

/** The heap of this process at a moment of a session, in megabytes, after everything unused was collected. */
export interface MeasuredHeap {
  turn: number;
  all: number;
  /** What the session's entries take of it: as much as they take when they are read from its file. */
  log: number;
}

// What a value has left on the stack may keep others alive: the smallest of a few is the nearest to what is in use.
const ATTEMPTS = 4;
const PROBE = join(import.meta.dir, "..", "probes", "entries.ts");

/** Measures what is in use now; the session is flushed, since its entries are measured from its file. */
export function measureHeap(turn: number, session: SessionManager): MeasuredHeap {
  forgetCountedTexts();
  session.flush();
  const attempts = Array.from({ length: ATTEMPTS }, () => {
    Bun.gc(true);
    return process.memoryUsage().heapUsed / 1024 / 1024;
  });
  return { turn, all: Math.min(...attempts), log: entriesMegabytes(session.sessionPath) };
}

/** @throws when the file cannot be read. */
function entriesMegabytes(path: string | undefined): number {
  if (path === undefined) return 0;
  const { stdout, stderr, success } = Bun.spawnSync([process.execPath, PROBE, path]);
  if (!success) throw new Error(`The session could not be read again: ${stderr.toString()}`);
  return Number(stdout.toString());
}
