import type { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { fileSize } from "../../../infrastructure/fs/directory.ts";
import type { SessionEntry } from "../../types.ts";
import { readForeignSession } from "../foreign/index.ts";
import { numberOf, objectOf, objectsIn, textOf } from "../foreign/json-value.ts";
import {
  FOREIGN_AGENTS,
  type ForeignAgent,
  type ForeignLocation,
  IMPORT_LIMITS,
  isForeignAgent,
} from "../foreign/types.ts";
import { toEntries } from "../import.ts";
import {
  addToList,
  claimWriting,
  type HistoryPaths,
  isDamage,
  openHistoryDatabase,
  readList,
  removeHistoryDatabase,
} from "./database.ts";
import { excerpt } from "./excerpt.ts";
import { MAX_TEXT } from "./items.ts";
import { IDS_PER_MS, type UpdateOptions, type UpdateOutcome, updateHistory } from "./update.ts";
import { facet, parseQuery, searchedPaths } from "./words.ts";

/** A search in all sessions; a filter that is left out matches everything. */
export interface HistoryQuery {
  /** Words, `"phrases"` and `beginnings*`; all must occur in one place. */
  query: string;
  /** The root of a project. */
  project?: string | undefined;
  agent?: string | undefined;
  /** A path in a call, or the end of one. */
  file?: string | undefined;
  /** Where a relative `file` may start, absolute. */
  directory?: string | undefined;
  tool?: string | undefined;
  /** Milliseconds since the epoch. */
  sinceMs?: number | undefined;
  limit?: number | undefined;
}

/** A place in a session. */
export interface HistoryMatch {
  /** How users name the session: our id, or `agent:id`. */
  ref: string;
  agent: string;
  /** The project's root, or the directory in which the session worked. */
  project: string;
  /** ISO 8601. */
  date: string;
  role: string;
  /** The text around the first word, on one line. */
  text: string;
  entryId?: string | undefined;
  /** The session's name or its first prompt. */
  title: string;
  /** The session's file, absolute. */
  path: string;
  /** Of a call or a result. */
  tool?: string | undefined;
}

/** A session of the index. */
export interface HistorySession {
  ref: string;
  agent: string;
  project: string;
  title: string;
  /** The file, absolute. */
  path: string;
  /** Milliseconds since the epoch. */
  modifiedMs: number;
  messages: number;
}

/** How much the index holds. */
export interface HistoryStats {
  sessions: number;
  messages: number;
  /** Searchable places. */
  items: number;
  projects: number;
  bytes: number;
  agents: Record<string, number>;
}

// Of a larger file, the index may lack a part.
const MAX_WHOLE_FILE = 16_000_000;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
// So many places are examined at most when copies and others are left out.
const MAX_EXAMINED = 5_000;

/**
 * The index over all sessions. It can always be built again: a damaged one is replaced, whatever the call. Nothing is
 * opened before the first one.
 */
export class SessionHistory {
  private database: Database | undefined;

  constructor(private readonly paths: HistoryPaths) {}

  /** True if there is an index. */
  get exists(): boolean {
    return existsSync(this.paths.database);
  }

  /** See `updateHistory`. */
  async update(options: UpdateOptions): Promise<UpdateOutcome> {
    try {
      return await updateHistory(this.open(), this.paths, options);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.remove();
      return updateHistory(this.open(), this.paths, options);
    }
  }

  /**
   * The newest matches first, and once each: a fork or an import has messages of another session again. Undefined if the
   * query has no word and no filter.
   * @param accepts matches for which it is false are left out.
   * @throws SQLite's error, `isDamage` for one that an update repairs.
   */
  search(
    query: HistoryQuery,
    accepts: (match: HistoryMatch) => boolean = () => true,
  ): HistoryMatch[] | undefined {
    const selection = selectItems(query);
    if (!selection) return undefined;
    const { sql, parameters, words } = selection;
    const ids = this.open().query(`${sql} ORDER BY id DESC LIMIT ?`);
    const limit = limitOf(query);
    for (const fetched of [limit * 4, MAX_EXAMINED]) {
      const rows = objectsIn(ids.all(...parameters, fetched));
      const matches = withoutCopies(this.readMatches(rows, words).filter(accepts));
      if (matches.length >= limit || rows.length < fetched || fetched === MAX_EXAMINED)
        return matches.slice(0, limit);
    }
    return [];
  }

  /** The newest match of each session; otherwise like `search`. */
  searchSessions(query: HistoryQuery): HistoryMatch[] | undefined {
    const selection = selectItems(query);
    if (!selection) return undefined;
    const { sql, parameters, words } = selection;
    const rows = this.open()
      .query(
        `SELECT max(item.id) AS id FROM (${sql}) AS found JOIN item ON item.id = found.id
         GROUP BY item.session ORDER BY id DESC LIMIT ?`,
      )
      .all(...parameters, limitOf(query));
    const newest = new Map<string, HistoryMatch>();
    for (const match of withoutCopies(this.readMatches(objectsIn(rows), words)))
      if (!newest.has(match.ref)) newest.set(match.ref, match);
    return [...newest.values()];
  }

  /** How many places match, whatever the limit; those that a copy has again count, too. */
  count(query: HistoryQuery): number {
    const selection = selectItems(query);
    if (!selection) return 0;
    const { sql, parameters } = selection;
    const row = this.open()
      .query(`SELECT count(*) AS count FROM (${sql})`)
      .get(...parameters);
    return numberOf(objectOf(row)?.count);
  }

  private readMatches(ids: readonly Record<string, unknown>[], words: readonly string[]): HistoryMatch[] {
    const read = this.open().query(
      `SELECT item.id, item.role, item.entry, item.tool, item.text, session.ref, session.agent, session.project, session.title, session.path
       FROM item JOIN session ON session.id = item.session WHERE item.id = ?`,
    );
    return ids.flatMap(({ id }) => {
      const row = objectOf(read.get(numberOf(id)));
      if (!row) return [];
      const entryId = textOf(row.entry);
      const toolName = textOf(row.tool);
      return [
        {
          ref: textOf(row.ref) ?? "",
          agent: textOf(row.agent) ?? "",
          project: textOf(row.project) ?? "",
          date: new Date(Math.floor(numberOf(row.id) / IDS_PER_MS)).toISOString(),
          role: textOf(row.role) ?? "",
          text: excerpt(textOf(row.text) ?? "", words),
          ...(entryId !== undefined && { entryId }),
          title: textOf(row.title) ?? "",
          path: textOf(row.path) ?? "",
          ...(toolName !== undefined && { tool: toolName }),
        },
      ];
    });
  }

  /** The newest session with this REF, else the only one of ours whose id begins with it. */
  find(ref: string): HistorySession | undefined {
    const [found, ...others] = this.findCandidates(ref);
    return others.length === 0 ? found : undefined;
  }

  /**
   * The sessions that a REF may stand for: the newest one with exactly this REF, else those of ours whose ids begin with
   * it, the newest first. Sessions of other agents are only found by their whole REF.
   */
  findCandidates(ref: string): HistorySession[] {
    const columns =
      "SELECT ref, agent, project, title, path, max(modified) AS modified, messages FROM session";
    const exact: unknown[] = this.open().query(`${columns} WHERE ref = ? GROUP BY ref`).all(ref);
    const rows: unknown[] =
      exact.length > 0 || ref === ""
        ? exact
        : this.open()
            .query(
              `${columns} WHERE agent = 'diligent' AND substr(ref, 1, ?) = ? GROUP BY ref ORDER BY modified DESC`,
            )
            .all(ref.length, ref);
    return objectsIn(rows).map((row) => ({
      ref: textOf(row.ref) ?? "",
      agent: textOf(row.agent) ?? "",
      project: textOf(row.project) ?? "",
      title: textOf(row.title) ?? "",
      path: textOf(row.path) ?? "",
      modifiedMs: numberOf(row.modified),
      messages: numberOf(row.messages),
    }));
  }

  /**
   * Of our session files, those in which certainly none of the user's and the model's texts, names and labels contains
   * each of the words. A file that has changed since it was indexed, or whose texts were cut, is never among them.
   */
  findWithout(files: readonly string[], words: readonly string[]): Set<string> {
    // SQLite ignores the case of ASCII letters only.
    const patterns = words
      .filter((word) => /^[\x21-\x7e]+$/.test(word))
      .map((word) => `%${word.replace(/[\\%_]/g, "\\$&")}%`);
    if (patterns.length === 0) return new Set();
    const database = this.open();
    const source = database.query("SELECT size, modified FROM source WHERE key = ?");
    const indexed = database.query("SELECT id FROM session WHERE source = ?");
    const cut = database.query("SELECT 1 FROM item WHERE session = ? AND length(text) >= ? LIMIT 1");
    const holds = database.query(
      "SELECT 1 FROM item WHERE session = ? AND role IN ('user', 'assistant', 'name', 'label') AND text LIKE ? ESCAPE '\\' LIMIT 1",
    );
    const isWithout = (path: string) => {
      const stats = statSync(path, { throwIfNoEntry: false });
      const known = objectOf(source.get(path));
      const id = objectOf(indexed.get(path))?.id;
      if (!stats || !known || typeof id !== "number" || stats.size > MAX_WHOLE_FILE) return false;
      if (known.size !== stats.size || known.modified !== Math.floor(stats.mtimeMs)) return false;
      if (cut.get(id, MAX_TEXT)) return false;
      return patterns.some((pattern) => !holds.get(id, pattern));
    };
    return new Set(files.filter(isWithout));
  }

  stats(): HistoryStats {
    const one = (query: string) => numberOf(objectOf(this.open().query(query).get())?.count);
    const agents: unknown[] = this.open()
      .query("SELECT agent, count(*) AS count FROM session GROUP BY agent ORDER BY agent")
      .all();
    return {
      sessions: one("SELECT count(*) AS count FROM session"),
      messages: one("SELECT coalesce(sum(messages), 0) AS count FROM session"),
      items: one("SELECT count(*) AS count FROM item"),
      projects: one("SELECT count(DISTINCT project) AS count FROM session"),
      bytes: (fileSize(this.paths.database) ?? 0) + (fileSize(`${this.paths.database}-wal`) ?? 0),
      agents: Object.fromEntries(
        objectsIn(agents).map((row) => [textOf(row.agent) ?? "", numberOf(row.count)]),
      ),
    };
  }

  /** Removes a session from the index for good: also one that is built again leaves it out. Its file stays. */
  forget(ref: string): void {
    addToList(this.paths.forgotten, [{ ref }]);
    const database = this.open();
    database
      .transaction(() => {
        const items =
          "SELECT item.id FROM item JOIN session ON session.id = item.session WHERE session.ref = ?";
        database.query(`DELETE FROM words WHERE rowid IN (${items})`).run(ref);
        database.query(`DELETE FROM item WHERE id IN (${items})`).run(ref);
        database.query("DELETE FROM session WHERE ref = ?").run(ref);
      })
      .immediate();
  }

  /** Removes the index, and returns false, leaving it, while another process writes to it. */
  removeUnlessInUse(): boolean {
    try {
      if (this.exists && !claimWriting(this.open())) return false;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    this.remove();
    return true;
  }

  /** Removes the index. */
  remove(): void {
    this.close();
    removeHistoryDatabase(this.paths.database);
  }

  /** The roots of the projects that were known when the index was brought up to date. */
  get projects(): string[] {
    return [...readList(this.paths.projects, "root")];
  }

  close(): void {
    this.database?.close();
    this.database = undefined;
  }

  private open(): Database {
    this.database ??= openHistoryDatabase(this.paths.database);
    return this.database;
  }
}

/** A query that selects the ids of matching items, and the words to show in context. */
interface ItemSelection {
  sql: string;
  parameters: (string | number)[];
  words: readonly string[];
}

/** Undefined if the query has no word and no filter, or only signs that are no words. */
function selectItems({
  query,
  project,
  agent,
  file,
  directory,
  tool,
  sinceMs,
}: HistoryQuery): ItemSelection | undefined {
  const parsed = parseQuery(query);
  const facets = [
    ...(project === undefined ? [] : [[facet("p", project)]]),
    ...(agent === undefined ? [] : [[facet("a", agent)]]),
    ...(tool === undefined ? [] : [[facet("t", tool.toLowerCase())]]),
    ...(file === undefined ? [] : [searchedPaths(file, directory).map((path) => facet("f", path))]),
  ];
  if (query.trim() !== "" && !parsed) return undefined;
  const terms = [
    ...(parsed ? [parsed.match] : []),
    ...facets.map((words) => `facets : (${words.map((word) => `"${word}"`).join(" OR ")})`),
  ];
  const first = (sinceMs ?? 0) * IDS_PER_MS;
  if (terms.length > 0)
    return {
      sql: "SELECT rowid AS id FROM words WHERE words MATCH ? AND rowid >= ?",
      parameters: [terms.join(" AND "), first],
      words: parsed?.words ?? [],
    };
  if (sinceMs === undefined) return undefined;
  return { sql: "SELECT id FROM item WHERE id >= ?", parameters: [first], words: [] };
}

function limitOf({ limit = DEFAULT_LIMIT }: HistoryQuery): number {
  return Math.min(Math.max(1, limit), MAX_LIMIT);
}

/** The first of those that say the same at the same time: a fork or an import has messages of another session again. */
export function withoutCopies(matches: readonly HistoryMatch[]): HistoryMatch[] {
  const seen = new Set<string>();
  return matches.filter(({ date, role, text }) => {
    const key = `${date} ${role} ${text}`;
    return !seen.has(key) && seen.add(key);
  });
}

/**
 * The conversation of a session of another agent that the index knows, as entries of ours.
 * @throws the file system's error, or SQLite's, if it cannot be read.
 */
export async function readForeignEntries({ ref, path }: HistorySession): Promise<SessionEntry[]> {
  const [agent = "", ...rest] = ref.split(":");
  if (!isForeignAgent(agent)) return [];
  const location: ForeignLocation = {
    agent,
    path,
    ...(path.endsWith(".db") && { sessionId: rest.join(":") }),
    size: fileSize(path) ?? 0,
    modifiedMs: 0,
  };
  const session = await readForeignSession(location, { ...IMPORT_LIMITS, withChildren: false });
  return session ? toEntries(session) : [];
}

/** The agents of the setting `history.sources`; all without it. */
export function historySources(sources: readonly string[] | undefined): ForeignAgent[] {
  return FOREIGN_AGENTS.filter((agent) => sources === undefined || sources.includes(agent));
}
