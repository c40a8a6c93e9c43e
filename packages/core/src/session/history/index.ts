/**
 * Earlier sessions beyond those of one project, and those of other agents. Only the commands that need it load it: it
 * is never part of a conversation's start.
 */

export { describeEarlierSession } from "./continue.ts";
export { findForeignSessions, listForeignSessions } from "./foreign/locations.ts";
export { type ImportedSession, importSessions, isOfProject } from "./import.ts";
export { type HistoryPaths, historyPaths, isDamage } from "./search/database.ts";
export {
  type HistoryMatch,
  type HistoryQuery,
  type HistorySession,
  type HistoryStats,
  historySources,
  readForeignEntries,
  SessionHistory,
} from "./search/history.ts";
export type { UpdateOptions, UpdateOutcome } from "./search/update.ts";
