import type { CheckpointLimits } from "../limits.ts";
import { makeRoom } from "./store-space.ts";

// Of the room that there is, so much may be filled before it is looked at again.
const UNCHECKED_SHARE = 1 / 16;

/** No room is left for checkpoints. */
export class StoreFullError extends Error {
  override name = "StoreFullError";
}

/** The room that the checkpoints of all projects share. */
export class StoreRoom {
  /** Bytes that this process had added when the room was last looked at. */
  private checkedSize = 0;
  /** How many earlier sessions had to lose their checkpoints when this began. */
  readonly droppedSessions: number;

  /**
   * Drops the oldest checkpoints where that is needed.
   * @param checkpoints the directory of all of them.
   * @throws StoreFullError where that does not help, and errors of the file system.
   */
  constructor(
    private readonly checkpoints: string,
    private readonly limits: Pick<CheckpointLimits, "storeBytes">,
  ) {
    this.droppedSessions = this.make();
  }

  /** @param ownSize bytes that this process has added so far. @throws as the constructor does. */
  check(ownSize: number): void {
    if (ownSize - this.checkedSize < this.limits.storeBytes * UNCHECKED_SHARE) return;
    this.checkedSize = ownSize;
    this.make();
  }

  private make(): number {
    const { storeBytes } = this.limits;
    const { used, droppedSessions } = makeRoom(this.checkpoints, storeBytes);
    if (used <= storeBytes) return droppedSessions;
    const size = Math.round(storeBytes / 1024 / 1024);
    throw new StoreFullError(`checkpoints take more than ${size} MB (${this.checkpoints})`);
  }
}
