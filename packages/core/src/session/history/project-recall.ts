import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Redactor } from "../../agent/types.ts";
import { TimeSlicer } from "../../infrastructure/async.ts";
import { resolvePaths } from "../../infrastructure/diligent-dir.ts";
import { fileSize, modificationTime } from "../../infrastructure/fs/directory.ts";
import { readLines } from "../../infrastructure/fs/read.ts";
import { createTrackedTest } from "../../infrastructure/paths/git-index.ts";
import { type Environment, monotonicMs, now } from "../../infrastructure/runtime.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import { type ToolCallBlock, toolCallsOf } from "../../types.ts";
import { sessionFileNames } from "../list.ts";
import { parseSessionLine } from "../parse-line.ts";
import { readSessionFile } from "../read-file.ts";
import { recalledText } from "../recall.ts";
import type { SessionEntry } from "../types.ts";
import { summarizeEarlierSession } from "./continue.ts";
import { timeOf } from "./foreign/json-value.ts";
import { historyPaths } from "./search/database.ts";
import { excerpt } from "./search/excerpt.ts";
import {
  type HistoryMatch,
  type HistorySession,
  historySources,
  readForeignEntries,
  SessionHistory,
  withoutCopies,
} from "./search/history.ts";
import { readOwnSession } from "./search/items.ts";
import { searchedPaths, toFullPath } from "./search/words.ts";

/** A search in earlier sessions; a filter that is left out matches everything. */
interface ProjectQuery {
  query?: string | undefined;
  tool?: string | undefined;
  path?: string | undefined;
  limit?: number | undefined;
}

/** A place in an earlier session. */
export interface ProjectMatch {
  /** `SESSION@ENTRY`, with which it is read whole. */
  reference: string;
  agent: string;
  title: string;
  /** ISO 8601. */
  date: string;
  role: string;
  text: string;
}

interface ProjectMatches {
  /** Newest first. */
  matches: ProjectMatch[];
  /** Why more may exist than was searched, as a sentence. */
  gap?: string | undefined;
}

/** Where earlier sessions are, and how they may be read. */
interface ProjectRecallOptions {
  environment: Environment;
  /** The project, absolute and real. */
  root: string;
  /** The current session, which is never among the results. */
  sessionId: string;
  /** The user's setting `history`. */
  settings: { index?: boolean | undefined; sources?: readonly string[] | undefined } | undefined;
  redactor?: Redactor | undefined;
}

const DEFAULT_LIMIT = 10;
/** Its results repeat other messages. */
const OWN_TOOL = "recall";
/** So long a search waits for sessions that are not in the index yet. */
const UPDATE_WAIT_MS = 3_000;
/** An index that was brought up to date this recently is searched as it is. */
const FRESH_MS = 30_000;
const SCAN_MS = 3_000;
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Searches and reads the earlier sessions of one project: ours, and those of other agents that the index has. Sessions
 * that git tracks come from somebody else and are left out.
 */
export class ProjectRecall {
  private history: SessionHistory | undefined;
  private updating: Promise<string | undefined> | undefined;
  private updatedMs: number | undefined;
  private readonly stopped = new AbortController();
  private tracked: ((path: string) => boolean) | undefined;

  constructor(private readonly options: ProjectRecallOptions) {}

  /** The newest matches; without the index, the newest session files are read instead. */
  async search(query: ProjectQuery): Promise<ProjectMatches> {
    const { settings, environment } = this.options;
    const paths = historyPaths(environment);
    if (settings?.index === false) return this.scan(query, "The history index is turned off (history.index)");
    if (!paths) return this.scan(query, "There is no home directory for the history index");
    try {
      this.history ??= new SessionHistory(paths);
      const gap = await this.updateForAWhile(this.history);
      return { matches: this.searchIndex(this.history, query), gap };
    } catch (error) {
      return this.scan(query, `The history index cannot be used: ${systemErrorText(error)}`);
    }
  }

  /**
   * One message whole, or the summary of a session. Undefined if this project has no such session or message.
   * @param reference `SESSION@ENTRY` or `SESSION`.
   * @throws the file system's error if the session cannot be read.
   */
  async read(reference: string): Promise<string | undefined> {
    const at = reference.lastIndexOf("@");
    const [ref, entry] = at < 0 ? [reference, ""] : [reference.slice(0, at), reference.slice(at + 1)];
    const session = this.find(ref);
    if (!session) return undefined;
    const text = entry === "" ? await this.summarize(session) : await this.readEntry(session, entry);
    return text === undefined ? undefined : this.redact(text);
  }

  /** Stops an update that is under way. */
  close(): void {
    this.stopped.abort();
    const { history } = this;
    this.history = undefined;
    // The update must not find its database closed.
    if (this.updating) void this.updating.finally(() => history?.close());
    else history?.close();
  }

  /** Brings the index up to date, but waits only a short time for it; returns what may be missing. */
  private async updateForAWhile(history: SessionHistory): Promise<string | undefined> {
    if (!this.updating) {
      if (this.updatedMs !== undefined && monotonicMs() - this.updatedMs < FRESH_MS) return undefined;
      this.updating = this.update(history).finally(() => {
        this.updating = undefined;
      });
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(
        () => resolve("The history index is being built: repeat the search for the rest."),
        UPDATE_WAIT_MS,
      );
    });
    try {
      return await Promise.race([this.updating, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async update(history: SessionHistory): Promise<string | undefined> {
    const { environment, root, settings, redactor } = this.options;
    try {
      const { isOwn } = await history.update({
        environment,
        root,
        sources: historySources(settings?.sources),
        redactor,
        signal: this.stopped.signal,
      });
      if (!isOwn)
        return "Another diligent is updating the history index: the newest sessions may be missing.";
      this.updatedMs = monotonicMs();
      return undefined;
    } catch (error) {
      return `The history index could not be brought up to date: ${systemErrorText(error)}`;
    }
  }

  private searchIndex(history: SessionHistory, query: ProjectQuery): ProjectMatch[] {
    const { query: words = "", tool, path: file, limit = DEFAULT_LIMIT } = query;
    const { root: project } = this.options;
    const found = history.search({ query: words, project, tool, file, limit }, (match) =>
      this.isEarlier(match),
    );
    return (found ?? []).map(toProjectMatch);
  }

  private isEarlier({ ref, agent, path, tool }: HistoryMatch): boolean {
    return (
      tool !== OWN_TOOL && ref !== this.options.sessionId && (agent !== "diligent" || !this.isTracked(path))
    );
  }

  private isTracked(path: string): boolean {
    const { root } = this.options;
    if (!this.tracked) {
      const stateOf = createTrackedTest(root);
      this.tracked = (absolute) =>
        absolute.startsWith(`${root}/`) && stateOf(absolute.slice(root.length + 1)) === "tracked";
    }
    return this.tracked(path);
  }

  /** Reads session files themselves, the last changed first, for a limited time. */
  private async scan(query: ProjectQuery, reason: string): Promise<ProjectMatches> {
    const { root, sessionId } = this.options;
    const directory = resolvePaths(root).sessions;
    const files = sessionFileNames(directory)
      .map((name) => join(directory, name))
      .map((path) => ({ path, modifiedMs: modificationTime(path) }))
      .sort((left, right) => right.modifiedMs - left.modifiedMs);
    const slicer = new TimeSlicer(this.stopped.signal);
    const begunMs = monotonicMs();
    const found: HistoryMatch[] = [];
    let read = 0;
    for (const { path } of files) {
      if (monotonicMs() - begunMs > SCAN_MS) break;
      if (slicer.isDue) await slicer.pause();
      read++;
      if (path.endsWith(`/${sessionId}.jsonl`) || this.isTracked(path)) continue;
      const session = await readOwnSession(path, this.stopped.signal).catch(() => undefined);
      if (session) found.push(...matchItems(session, { query, root, path }));
    }
    const newest = found.sort((left, right) => (left.date < right.date ? 1 : -1));
    return {
      matches: withoutCopies(newest)
        .slice(0, query.limit ?? DEFAULT_LIMIT)
        .map(toProjectMatch),
      gap: `${reason}, so only ${read} of ${files.length} session files of diligent itself were searched.`,
    };
  }

  private find(ref: string): HistorySession | undefined {
    const { root, sessionId, settings } = this.options;
    if (ref === sessionId) return undefined;
    const own = join(resolvePaths(root).sessions, `${ref}.jsonl`);
    if (/^[\w-]+$/.test(ref) && existsSync(own))
      return this.isTracked(own) ? undefined : describeFile(ref, own, root);
    const paths = historyPaths(this.options.environment);
    if (!paths || settings?.index === false || !ref.includes(":")) return undefined;
    this.history ??= new SessionHistory(paths);
    const session = this.history.exists ? this.history.find(ref) : undefined;
    return session?.project === root && session.agent !== "diligent" ? session : undefined;
  }

  private async summarize(session: HistorySession): Promise<string | undefined> {
    if ((fileSize(session.path) ?? 0) > MAX_WHOLE_BYTES && session.agent === "diligent")
      return `Session ${session.ref} is too large to be summarized; search it with query, tool or path.`;
    const entries = await this.entriesOf(session);
    return summarizeEarlierSession(session, entries);
  }

  private async readEntry(session: HistorySession, entry: string): Promise<string | undefined> {
    if (session.agent === "diligent") return readOwnEntry(session.path, entry);
    // Those of other agents are named by their time.
    const entries = (await this.entriesOf(session)).filter(
      (each) => each.id === entry || timeOf(each.timestamp) === Date.parse(entry),
    );
    const texts = entries.flatMap((each) => (each.type === "message" ? [recalledText(each.message)] : []));
    return texts.length === 0 ? undefined : texts.join("\n\n");
  }

  private async entriesOf(session: HistorySession): Promise<SessionEntry[]> {
    return session.agent === "diligent" ? readSessionFile(session.path).entries : readForeignEntries(session);
  }

  private redact(text: string): string {
    return this.options.redactor?.redact(text) ?? text;
  }
}

function toProjectMatch({ ref, entryId, agent, title, date, role, text }: HistoryMatch): ProjectMatch {
  return { reference: `${ref}@${entryId ?? date}`, agent, title, date, role, text };
}

/** What the index would find in a session. */
function matchItems(
  { ref, agent, cwd, title, items }: NonNullable<Awaited<ReturnType<typeof readOwnSession>>>,
  { query, root, path }: { query: ProjectQuery; root: string; path: string },
): HistoryMatch[] {
  const words = (query.query ?? "")
    .toLowerCase()
    .split(/[\s"*]+/)
    .filter(Boolean);
  const tool = query.tool?.toLowerCase();
  const searched = query.path === undefined ? undefined : searchedPaths(query.path, root);
  const isSearched = (file: string) => {
    const full = toFullPath(file, cwd);
    return searched?.some((each) => full === each || full.endsWith(`/${each}`));
  };
  return items.flatMap((item) => {
    if (item.tool === OWN_TOOL) return [];
    if (tool !== undefined && item.tool?.toLowerCase() !== tool) return [];
    if (searched && !item.files?.some(isSearched)) return [];
    const text = [item.text, ...(item.files ?? [])].join(" ");
    const lower = text.toLowerCase();
    if (!words.every((word) => lower.includes(word))) return [];
    const date = new Date(Math.min(item.at, now())).toISOString();
    const shown = excerpt(item.text, words);
    return [
      { ref, agent, project: root, path, date, role: item.role, text: shown, title, entryId: item.entryId },
    ];
  });
}

function describeFile(ref: string, path: string, project: string): HistorySession {
  return {
    ref,
    agent: "diligent",
    project,
    title: "",
    path,
    modifiedMs: Math.floor(modificationTime(path)),
    messages: 0,
  };
}

/** A message of a file of any size; for a result of a tool, its call stands above it. */
function readOwnEntry(path: string, id: string): string | undefined {
  const calls = new Map<string, ToolCallBlock>();
  for (const { text, isCut } of readLines(path, { maxLineBytes: MAX_LINE_BYTES, isSnapshot: true })) {
    const line = isCut ? undefined : parseSessionLine(text);
    if (line?.kind !== "entry") continue;
    const { entry } = line;
    if (entry.id === id) return textOfEntry(entry, calls);
    if (entry.type !== "message") continue;
    if (entry.message.role === "assistant")
      for (const call of toolCallsOf(entry.message)) calls.set(call.id, call);
    if (entry.message.role === "tool_result") calls.delete(entry.message.toolCallId);
  }
  return undefined;
}

function textOfEntry(entry: SessionEntry, calls: ReadonlyMap<string, ToolCallBlock>): string | undefined {
  if (entry.type === "compaction" || entry.type === "branch_summary") return entry.summary;
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  const call = message.role === "tool_result" ? calls.get(message.toolCallId) : undefined;
  const head = call ? `${call.name} ${JSON.stringify(call.input)}\n` : "";
  return `${head}${recalledText(message)}`;
}
