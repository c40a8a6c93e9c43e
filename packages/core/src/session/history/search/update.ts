import type { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Redactor } from "../../../agent/types.ts";
import { StoppedError, TimeSlicer } from "../../../infrastructure/async.ts";
import { resolvePaths } from "../../../infrastructure/diligent-dir.ts";
import { readDirectory } from "../../../infrastructure/fs/directory.ts";
import { findProjectRoot } from "../../../infrastructure/paths/project.ts";
import { type Environment, homeDirectory, monotonicMs, now } from "../../../infrastructure/runtime.ts";
import { systemErrorText } from "../../../infrastructure/system-error.ts";
import { readForeignSession } from "../foreign/index.ts";
import { numberOf, objectOf, textOf } from "../foreign/json-value.ts";
import { listForeignSessions } from "../foreign/locations.ts";
import type { ForeignAgent, ForeignLocation } from "../foreign/types.ts";
import { claimWriting, type HistoryPaths, readList, releaseWriting } from "./database.ts";
import { INDEX_LIMITS, type IndexedSession, readOwnSession, toIndexedSession } from "./items.ts";
import { noteProjects } from "./known-projects.ts";
import { facetsOf, toFullPath, toIndexedText } from "./words.ts";

/** How the index is brought up to date. */
export interface UpdateOptions {
  environment: Environment;
  /** The project in which the command runs; it counts as known. */
  root: string;
  /** The other agents whose sessions are indexed. */
  sources: readonly ForeignAgent[];
  redactor?: Redactor | undefined;
  signal?: AbortSignal | undefined;
  /** Called now and then with the number of sessions that are done, of those that have changed. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

/** What an update did. */
export interface UpdateOutcome {
  /** False if another process is updating the index: nothing was done then. */
  isOwn: boolean;
  added: number;
  removed: number;
  /** Sentences that name a file. */
  problems: string[];
}

/** A session where it lies. */
interface Source {
  key: string;
  size: number;
  modifiedMs: number;
  read(signal?: AbortSignal): Promise<IndexedSession | undefined>;
  path: string;
  /** The project, if it follows from the place. */
  project?: string | undefined;
}

// So long other processes wait at most for one that writes.
const BATCH_MS = 250;

/**
 * Indexes the sessions that are new or have changed by size or time, and removes those that no longer exist. Other
 * tasks of this process run in between; when it is stopped, what was indexed stays.
 * @throws SQLite's error, also for a full disk; StoppedError once the signal is aborted.
 */
export async function updateHistory(
  database: Database,
  paths: HistoryPaths,
  options: UpdateOptions,
): Promise<UpdateOutcome> {
  const outcome: UpdateOutcome = { isOwn: claimWriting(database), added: 0, removed: 0, problems: [] };
  if (!outcome.isOwn) return outcome;
  try {
    const sources = await listSources(paths, options, outcome.problems);
    const known = readKnownSources(database);
    const changed = sources.filter(({ key, size, modifiedMs }) => known.get(key) !== `${size}:${modifiedMs}`);
    const keys = new Set(sources.map(({ key }) => key));
    const gone = [...known.keys()].filter((key) => !keys.has(key));
    const writer = new IndexWriter(database, readList(paths.forgotten, "ref"), options);
    for (const key of gone) writer.remove(key);
    outcome.removed = gone.length;
    const slicer = new TimeSlicer(options.signal);
    for (const source of changed) {
      const session = await readSource(source, options, outcome.problems);
      writer.write(source, session);
      outcome.added++;
      if (writer.commitIfDue()) options.onProgress?.(outcome.added, changed.length);
      if (slicer.isDue) await slicer.pause();
    }
    writer.commit();
  } finally {
    if (database.inTransaction) database.run("ROLLBACK");
    releaseWriting(database);
  }
  return outcome;
}

async function readSource(
  source: Source,
  { signal }: UpdateOptions,
  problems: string[],
): Promise<IndexedSession | undefined> {
  try {
    return await source.read(signal);
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    problems.push(`${source.path} cannot be read: ${systemErrorText(error)}`);
    return undefined;
  }
}

function readKnownSources(database: Database): Map<string, string> {
  const known = new Map<string, string>();
  for (const each of database.query("SELECT key, size, modified FROM source").iterate()) {
    const row = objectOf(each);
    const key = textOf(row?.key);
    if (key !== undefined) known.set(key, `${numberOf(row?.size)}:${numberOf(row?.modified)}`);
  }
  return known;
}

async function listSources(
  paths: HistoryPaths,
  options: UpdateOptions,
  problems: string[],
): Promise<Source[]> {
  const slicer = new TimeSlicer(options.signal);
  const sources: Source[] = [];
  const { environment, root: own } = options;
  // This project first: what is searched next is most likely in it.
  for (const root of new Set([own, ...noteProjects(paths, environment, [own])])) {
    const directory = resolvePaths(root).sessions;
    for (const name of sessionNames(directory)) {
      if (slicer.isDue) await slicer.pause();
      const path = join(directory, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      if (!stats?.isFile()) continue;
      const modifiedMs = Math.floor(stats.mtimeMs);
      const read = (signal?: AbortSignal) => readOwnSession(path, signal);
      sources.push({ key: path, size: stats.size, modifiedMs, path, project: root, read });
    }
  }
  for (const agent of options.sources) {
    const listing = await listForeignSessions(agent, options.environment);
    problems.push(...listing.problems);
    for (const location of listing.locations) sources.push(toSource(location));
  }
  return sources;
}

function toSource(location: ForeignLocation): Source {
  const { path, sessionId, size, modifiedMs } = location;
  return {
    key: sessionId === undefined ? path : `${path}#${sessionId}`,
    size,
    modifiedMs,
    path,
    async read(signal) {
      const session = await readForeignSession(location, INDEX_LIMITS, signal);
      return session && toIndexedSession(session);
    },
  };
}

function sessionNames(directory: string): string[] {
  try {
    return readDirectory(directory).flatMap(({ name, kind }) =>
      kind === "file" && name.endsWith(".jsonl") ? [name] : [],
    );
  } catch {
    return []; // Removed since, or not readable: there are no sessions to show.
  }
}

/** An id for each millisecond has room for this many items. */
export const IDS_PER_MS = 1_024;

class IndexWriter {
  private begunMs = 0;
  private readonly roots = new Map<string, string>();

  constructor(
    private readonly database: Database,
    private readonly forgotten: ReadonlySet<string>,
    private readonly options: UpdateOptions,
  ) {}

  /** Removes a source and its sessions. */
  remove(key: string): void {
    this.begin();
    this.removeSessions(key);
    this.database.query("DELETE FROM source WHERE key = ?").run(key);
  }

  /** Replaces what is stored of a source; a forgotten or unreadable session is only noted as seen. */
  write(source: Source, read: IndexedSession | undefined): void {
    this.begin();
    const { key, size, modifiedMs } = source;
    this.removeSessions(key);
    this.database.query("INSERT OR REPLACE INTO source VALUES (?, ?, ?)").run(key, size, modifiedMs);
    if (!read || read.items.length === 0 || this.forgotten.has(read.ref)) return;
    this.insert(source, this.options.redactor?.redact(read) ?? read);
  }

  /** True if it did. */
  commitIfDue(): boolean {
    if (!this.database.inTransaction || monotonicMs() - this.begunMs < BATCH_MS) return false;
    this.commit();
    // Extends the time for which this process is the only writer.
    claimWriting(this.database);
    return true;
  }

  commit(): void {
    if (this.database.inTransaction) this.database.run("COMMIT");
  }

  private begin(): void {
    if (this.database.inTransaction) return;
    this.database.run("BEGIN IMMEDIATE");
    this.begunMs = monotonicMs();
  }

  private removeSessions(key: string): void {
    const sessions = "SELECT id FROM session WHERE source = ?";
    const items = `SELECT id FROM item WHERE session IN (${sessions})`;
    this.database.query(`DELETE FROM words WHERE rowid IN (${items})`).run(key);
    this.database.query(`DELETE FROM item WHERE session IN (${sessions})`).run(key);
    this.database.query("DELETE FROM session WHERE source = ?").run(key);
  }

  private insert(source: Source, session: IndexedSession): void {
    const { ref, agent, title, messages, items } = session;
    const project = source.project ?? this.rootOf(session.cwd);
    const row = this.database
      .query(
        "INSERT INTO session (source, ref, agent, path, project, title, modified, messages) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .run(source.key, ref, agent, source.path, project, title, source.modifiedMs, messages);
    const addItem = this.database.query("INSERT INTO item VALUES (?, ?, ?, ?, ?, ?)");
    const addWords = this.database.query("INSERT INTO words (rowid, text, facets) VALUES (?, ?, ?)");
    let last = 0;
    for (const { at, role, text, entryId, tool, files = [] } of items) {
      // A clock that is wrong must not put an entry before all others for ever.
      const time = at > 0 && at <= now() ? at : Math.min(source.modifiedMs || now(), now());
      const id = this.freeId(time, last);
      last = id;
      addItem.run(id, row.lastInsertRowid, role, entryId ?? null, tool ?? null, text);
      const indexed = files.length > 0 ? `${text} ${files.join(" ")}` : text;
      const paths = files.map((file) => toFullPath(file, session.cwd));
      addWords.run(id, toIndexedText(indexed), facetsOf({ agent, project, tool, files: paths, role }));
    }
  }

  /** An id at that time that is not used. @param last the session's previous one. */
  private freeId(time: number, last: number): number {
    const find = this.database.query("SELECT max(id) AS id FROM item WHERE id >= ? AND id < ?");
    const next = Math.floor(last / IDS_PER_MS) === time ? last + 1 : time * IDS_PER_MS;
    for (let start = next; ; start = (Math.floor(start / IDS_PER_MS) + 1) * IDS_PER_MS) {
      const end = (Math.floor(start / IDS_PER_MS) + 1) * IDS_PER_MS;
      const found = numberOf(objectOf(find.get(start, end))?.id);
      const free = found === 0 ? start : found + 1;
      if (free < end) return free;
    }
  }

  /** Cached: most sessions worked in a few directories. */
  private rootOf(cwd: string): string {
    let root = this.roots.get(cwd);
    if (root === undefined) {
      root =
        cwd !== "" && existsSync(cwd) ? findProjectRoot(cwd, homeDirectory(this.options.environment)) : cwd;
      this.roots.set(cwd, root);
    }
    return root;
  }
}
