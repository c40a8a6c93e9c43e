import { sleep } from "../runtime.ts";
import type { ChildProcess } from "./process.ts";

// What was written before the end is in the pipe already and arrives with the next turns of the event loop; on a machine
// with much else to do they come late, so the pipe is asked, too.
const QUIET_MS = 20;
const SETTLE_LIMIT_MS = 300;

// A background child that is no longer listened to may write 64 KB (a full pipe) this often: plenty for a server's log,
// and too little to keep a core busy.
const IDLE_PAUSE_MS = 100;

// A pipe that is always full would be read for ever without a key press or a timer getting its turn.
const YIELD_BYTES = 512 * 1024;

/**
 * Reads what a process and its children write, until all of them have closed it. `release` ends the listening: what comes
 * later is read and dropped, so that a background child neither blocks on a full pipe nor dies of a closed one.
 */
export class OutputReader {
  private readonly finished: Promise<void>;
  private onChunk: ((chunk: Uint8Array) => void) | undefined;
  private chunks = 0;

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
   * Resolves with true at the end of the output or, while a background child holds it open, with false when nothing more
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

  release(): void {
    this.onChunk = undefined;
  }

  private async read(output: ReadableStream<Uint8Array>): Promise<void> {
    const reader = output.getReader();
    let unyielded = 0;
    for (;;) {
      // A pipe that cannot be read any more is at its end for us.
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
      await nextTurn();
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
