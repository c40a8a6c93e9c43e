import { readSessionFile, type SessionManager } from "@diligent/core/run";
import { forgetCountedTexts } from "../../../core/test/support/token-counting.ts";

/** The heap of this process at a moment of a session, in megabytes, after everything unused was collected. */
export interface MeasuredHeap {
  turn: number;
  all: number;
  /** What the session's entries take of it: as much as they take when they are read from its file a second time. */
  log: number;
}

// What a value has left on the stack may keep others alive: the smallest of a few is the nearest to what they take.
const ATTEMPTS = 3;

export function measureHeap(turn: number, session: SessionManager): MeasuredHeap {
  forgetCountedTexts();
  session.flush();
  const path = session.sessionPath;
  const all = Math.min(...attempts(collectedMegabytes));
  const log = path === undefined ? 0 : Math.min(...attempts(() => entriesMegabytes(path)));
  return { turn, all, log };
}

function attempts(measure: () => number): number[] {
  return Array.from({ length: ATTEMPTS }, measure);
}

function entriesMegabytes(path: string): number {
  const before = collectedMegabytes();
  const { entries } = readSessionFile(path);
  const megabytes = collectedMegabytes() - before;
  // Asked for behind the measuring, so that they are still there then.
  return entries.length === 0 ? 0 : megabytes;
}

function collectedMegabytes(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
