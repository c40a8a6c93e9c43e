/** Replays recorded sessions. */

export { UNHASHED_FIELDS } from "./event-hash.ts";
export { MAX_RECORD_BYTES, RecordError } from "./record-line.ts";
export { replaySession, type SessionReplay } from "./replay-session.ts";
export type { ReplayDifference } from "./replayer.ts";
