import { monotonicMs } from "../infrastructure/clock.ts";

// A frame of a screen and a byte of a stream wait no longer than that.
const SLICE_MS = 8;

/** The work was stopped on request. */
export class StoppedError extends Error {
  override name = "StoppedError";
}

/** Long work in short pieces, so that everything else goes on beside it. */
export class Slices {
  private begunMs = monotonicMs();

  constructor(private readonly signal?: AbortSignal | undefined) {}

  /** True when the others are to have their turn: then `pause` is to be waited for. */
  get isDue(): boolean {
    return monotonicMs() - this.begunMs > SLICE_MS;
  }

  /** @throws StoppedError once the signal is aborted. */
  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.signal?.aborted) throw new StoppedError("stopped");
    this.begunMs = monotonicMs();
  }
}
