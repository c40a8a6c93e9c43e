import { sleep } from "../runtime.ts";
import type { ChildProcess } from "./process.ts";

// Output written before the end is already in the pipe and arrives within the next turns of the event loop; on a busy
// machine it is late, so the pipe is checked as well.
const QUIET_MS = 20;
const SETTLE_LIMIT_MS = 300;

// The read interval for a background child whose output is no longer used: 64 KB (a full pipe) each time is enough for
// a server's log and too little to keep a core busy.
const IDLE_PAUSE_MS = 100;

// At most some 50 MB a second.
const SLOW_PAUSE_MS = 10;

// A pipe that is always full would be read for ever without a key press or a timer getting its turn.
const YIELD_BYTES = 512 * 1024;

/**
 * Reads the output of a process and its children until all of them have closed it. After `release`, output is read and
 * dropped, so that a background child neither blocks on a full pipe nor dies of a closed one.
 */
export class OutputReader {
  /** Resolves at the end of the output. */
  readonly finished: Promise<void>;
  private onChunk: ((chunk: Uint8Array) => void) | undefined;
  private chunks = 0;
  private isSlow = false;

  constructor(
    private readonly child: Pick<ChildProcess, "outputs" | "hasUnreadOutput" | "closeOutputs">,
    onChunk: (chunk: Uint8Array) => void,
  ) {
    this.onChunk = onChunk;
    this.finished = Promise.all(child.outputs.map((output) => this.read(output))).then(() =>
      child.closeOutputs(),
    );
  }

  /**
   * Resolves with true at the end of the output or, while a background child keeps it open, with false when no more
   * arrives.
   */
  async settle(): Promise<boolean> {
    const ended = this.finished.then(() => true);
    for (let waitedMs = 0; waitedMs < SETTLE_LIMIT_MS; waitedMs += QUIET_MS) {
      const before = this.chunks;
      if (await Promise.race([ended, sleep(QUIET_MS).then(() => false)])) return true;
      if (this.chunks === before && !this.child.hasUnreadOutput()) break;
    }
    return false;
  }

  /** From now on much output is read with pauses: it delays whoever writes it, and not the rest of this program. */
  slowDown(): void {
    this.isSlow = true;
  }

  release(): void {
    this.onChunk = undefined;
  }

  private async read(output: ReadableStream<Uint8Array>): Promise<void> {
    const reader = output.getReader();
    let unyielded = 0;
    for (;;) {
      // A read error counts as the end.
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || value === undefined) return;
      this.chunks++;
      if (!this.onChunk) {
        await sleep(IDLE_PAUSE_MS);
        continue;
      }
      this.onChunk(value);
      unyielded += value.length;
      if (unyielded < YIELD_BYTES) continue;
      unyielded = 0;
      await (this.isSlow ? sleep(SLOW_PAUSE_MS) : nextTurn());
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
