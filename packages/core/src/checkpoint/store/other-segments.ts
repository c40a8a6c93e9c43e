import { statSync } from "node:fs";
import { lastTimeOf, readSegments } from "./read-segments.ts";
import { listGenerations, sessionOf, sizeOf } from "./store-place.ts";

/** Whose logs are meant, and which of them is not. */
export interface OtherSegmentsOptions {
  /** The directory of a project's checkpoints. */
  project: string;
  sessionId: string;
  /** The log of this process. */
  ownPath: string;
}

/** What other processes note down about a session while this one works in it. */
export class OtherSegments {
  /** Bytes, when it was last looked at. */
  private size = 0;

  constructor(private readonly options: OtherSegmentsOptions) {}

  /** The latest time (milliseconds) in any log of the session, where another process has added to one; else undefined. */
  findNewTime(): number | undefined {
    const { project, sessionId, ownPath } = this.options;
    const generations = listGenerations(project);
    const all = generations.reduce((sum, each) => sum + sizeOf(sessionOf(each, sessionId)), 0);
    const size = all - (statSync(ownPath, { throwIfNoEntry: false })?.size ?? 0);
    if (size === this.size) return undefined;
    this.size = size;
    return lastTimeOf(readSegments(generations, sessionId));
  }
}
