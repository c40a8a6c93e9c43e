/**
 * Earlier sessions beyond those of one project, and those of other agents. Only the commands that need it load it: it
 * is never part of a conversation's start.
 */
export { findForeignSessions, listForeignSessions } from "./foreign/locations.ts";
export { type ImportedSession, importSessions, isOfProject } from "./import.ts";
