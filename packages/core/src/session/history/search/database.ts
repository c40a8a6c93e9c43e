import { Database } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { JsonlWriter } from "../../../infrastructure/fs/jsonl-writer.ts";
import { userDataDirectory } from "../../../infrastructure/paths/user.ts";
import { isProcessAlive, ownIdentity } from "../../../infrastructure/process/tree.ts";
import { type Environment, now, randomHex } from "../../../infrastructure/runtime.ts";
import { systemErrorCode } from "../../../infrastructure/system-error.ts";
import { objectOf, parseRecord, textOf } from "../foreign/json-value.ts";

/** Where the index is, and what must outlive it. */
export interface HistoryPaths {
  database: string;
  /** Sessions that the user wants forgotten, one a line: an index that is built again leaves them out. */
  forgotten: string;
  /** The roots of projects in which diligent was used, one a line. */
  projects: string;
}

/** In the user's data directory; undefined without a home. */
export function historyPaths(environment: Environment): HistoryPaths | undefined {
  const directory = userDataDirectory(environment);
  if (directory === undefined) return undefined;
  const file = (name: string) => join(directory, name);
  return {
    database: file("history.db"),
    forgotten: file("history-forgotten.jsonl"),
    projects: file("projects.jsonl"),
  };
}

const SCHEMA_VERSION = 2;
const BUSY_MS = 5_000;

// An item's id is its time, so that the newest matches come first without sorting. `words` stores no text: it is
// compared with the index only, and `item` has it for display.
const SCHEMA = `
CREATE TABLE source (key TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE session (
  id INTEGER PRIMARY KEY, source TEXT NOT NULL, ref TEXT NOT NULL, agent TEXT NOT NULL, path TEXT NOT NULL,
  project TEXT NOT NULL, title TEXT NOT NULL, modified INTEGER NOT NULL, messages INTEGER NOT NULL
);
CREATE INDEX session_source ON session (source);
CREATE INDEX session_ref ON session (ref);
CREATE TABLE item (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, role TEXT NOT NULL, entry TEXT, tool TEXT, text TEXT NOT NULL
);
CREATE INDEX item_session ON item (session);
CREATE VIRTUAL TABLE words USING fts5(
  text, facets, content='', contentless_delete=1, prefix='3', tokenize='unicode61 remove_diacritics 2'
);
CREATE TABLE writer (pid INTEGER NOT NULL, started TEXT NOT NULL, until INTEGER NOT NULL);
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Opens the index and creates it if it is missing, damaged, or of another version: it can always be built again.
 * @throws Error if the directory cannot be written or the disk is full.
 */
export function openHistoryDatabase(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  for (let attempt = 0; ; attempt++) {
    const before = inodeOf(path);
    const opened = before === undefined ? undefined : tryOpen(path);
    if (opened) return opened;
    if (attempt === MAX_ATTEMPTS) throw new Error(`${path} cannot be opened, and replacing it did not help.`);
    // Unless another process has replaced it meanwhile.
    if (before !== undefined && inodeOf(path) === before) removeHistoryDatabase(path);
    createDatabase(path);
  }
}

const MAX_ATTEMPTS = 5;

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Creates it under another name, so that no process ever opens a half-made one; the first one to finish wins. */
function createDatabase(path: string): void {
  const draft = `${path}.${randomHex(6)}`;
  try {
    closeSync(openSync(draft, "wx", 0o600));
    const database = connect(draft);
    database.run(SCHEMA);
    database.close();
    linkSync(draft, path);
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw error;
  } finally {
    removeHistoryDatabase(draft);
  }
}

/** Removes the index with its logs. */
export function removeHistoryDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}

function connect(path: string): Database {
  const database = new Database(path, { readwrite: true, create: true, safeIntegers: false });
  database.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.run("PRAGMA journal_mode = WAL");
  // A crash of the machine may lose the newest entries: the next update adds them again.
  database.run("PRAGMA synchronous = NORMAL");
  database.run("PRAGMA cache_size = -16000");
  return database;
}

function tryOpen(path: string): Database | undefined {
  let database: Database | undefined;
  try {
    database = connect(path);
    if (versionOf(database) === SCHEMA_VERSION) {
      database.query("SELECT count(*) FROM writer").get();
      database.query("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").get();
      database.query("SELECT id FROM item ORDER BY id DESC LIMIT 1").get();
      return database;
    }
    database.close();
  } catch (error) {
    database?.close();
    if (!isDamage(error)) throw error;
  }
  return undefined;
}

function versionOf(database: Database): unknown {
  return objectOf(database.query("PRAGMA user_version").get())?.user_version;
}

/** True for an error of SQLite that only a new index repairs. */
export function isDamage(error: unknown): boolean {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  return (
    /^SQLITE_(?:CORRUPT|NOTADB)/.test(code) ||
    (error instanceof Error && /malformed|no such (?:table|column)|not a database/.test(error.message))
  );
}

const LEASE_MS = 15_000;

/** Becomes the only writer, for a time that each call extends. False if another process that lives is it. */
export function claimWriting(database: Database): boolean {
  const { pid, startTime = "" } = ownIdentity();
  const claim = database.transaction(() => {
    const row = objectOf(database.query("SELECT pid, started, until FROM writer").get());
    const isOwn = row?.pid === pid && row.started === startTime;
    if (row && !isOwn && typeof row.pid === "number" && typeof row.until === "number" && row.until > now()) {
      const identity = { pid: row.pid, startTime: textOf(row.started) || undefined };
      if (isProcessAlive(identity)) return false;
    }
    database.run("DELETE FROM writer");
    database.run("INSERT INTO writer VALUES (?, ?, ?)", [pid, startTime, now() + LEASE_MS]);
    return true;
  });
  return claim.immediate();
}

/** Lets another process write. */
export function releaseWriting(database: Database): void {
  const { pid, startTime = "" } = ownIdentity();
  database.run("DELETE FROM writer WHERE pid = ? AND started = ?", [pid, startTime]);
}

/** The values of a field in a file of lines; invalid lines are skipped. */
export function readList(path: string, field: string): Set<string> {
  if (!existsSync(path)) return new Set();
  const lines = readFileSync(path, "utf8").split("\n");
  return new Set(
    lines.map((line) => textOf(parseRecord(line)?.[field])).filter((value) => value !== undefined),
  );
}

/** Adds lines to such a file. @throws Error that names the file if it cannot be written. */
export function addToList(path: string, values: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = new JsonlWriter(path);
  try {
    for (const value of values) while (file.append(value) === 0);
  } finally {
    file.close();
  }
}
