import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Redactor } from "../../agent/types.ts";
import { StoppedError } from "../../infrastructure/async.ts";
import { type DiligentPaths, makeDiligentDir } from "../../infrastructure/diligent-dir.ts";
import { readDirectory } from "../../infrastructure/fs/directory.ts";
import { JsonlWriter } from "../../infrastructure/fs/jsonl-writer.ts";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { now } from "../../infrastructure/runtime.ts";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import { toolCallsOf } from "../../types.ts";
import { readSessionFile } from "../read-file.ts";
import { findLeafId, isContinuable, pathTo } from "../tree.ts";
import {
  SESSION_VERSION,
  type SessionEntry,
  type SessionHeader,
  type SessionSource,
  toFileLine,
} from "../types.ts";
import { readForeignSession } from "./foreign/index.ts";
import { directoryOfSession } from "./foreign/locations.ts";
import {
  type ForeignItem,
  type ForeignLocation,
  type ForeignSession,
  IMPORT_LIMITS,
} from "./foreign/types.ts";

/** What became of one session of another agent. */
export interface ImportedSession {
  /** The file of the other agent. */
  source: string;
  /** The id of our session. */
  id: string;
  /** All messages of its conversation, results of calls included. */
  messages: number;
  toolCalls: number;
  /** Records without a meaning here, by kind. */
  skipped: Record<string, number>;
  /** Whether it is new, has changed since it was imported, has changed beside what the user continues, or is the same. */
  change: "new" | "updated" | "branched" | "unchanged";
}

/** The outcome of an import: one session that cannot be read does not stop the others. */
export interface ImportOutcome {
  imported: ImportedSession[];
  /** Sentences that name a file. */
  problems: string[];
}

interface ImportOptions {
  paths: DiligentPaths;
  redactor?: Redactor | undefined;
  signal?: AbortSignal | undefined;
  onImported?: ((session: ImportedSession) => void) | undefined;
}

/**
 * Copies sessions of other agents into a project. A session that was imported before is continued: what it has in
 * common stays, and what follows becomes a branch of the same file. The conversation is that of the other agent, also
 * where it has become shorter, until the user continues it here.
 * @throws the file system's error if nothing can be written here; StoppedError once the signal is aborted.
 */
export async function importSessions(
  locations: readonly ForeignLocation[],
  { paths, redactor, signal, onImported }: ImportOptions,
): Promise<ImportOutcome> {
  const outcome: ImportOutcome = { imported: [], problems: [] };
  if (locations.length > 0) makeDiligentDir(paths);
  const target = new ImportTarget(paths.sessions, redactor);
  const take = (imported: ImportedSession) => {
    outcome.imported.push(imported);
    onImported?.(imported);
  };
  const waiting: ForeignSession[] = [];
  for (const location of locations) {
    let session: ForeignSession | undefined;
    try {
      session = await readForeignSession(location, IMPORT_LIMITS, signal);
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      outcome.problems.push(`${location.path} cannot be read: ${systemErrorText(error)}`);
    }
    if (!session || session.items.every(({ kind }) => kind !== "message")) continue;
    // A sub-agent's session refers to that of its parent, which may come later.
    if (session.parent && !target.find(session.agent, session.parent.sessionId)) waiting.push(session);
    else for (const imported of target.save(session)) take(imported);
  }
  for (const session of waiting) for (const imported of target.save(session)) take(imported);
  return outcome;
}

/** True for a session that worked in the project. @param root the project, absolute and real. */
export function isOfProject(location: ForeignLocation, root: string): boolean {
  const directory = directoryOfSession(location);
  return directory !== "" && (directory === root || isInside(directory, root));
}

const SUFFIX_DIGITS = 12;

/** The directory of our sessions. */
class ImportTarget {
  private readonly names: string[];

  constructor(
    private readonly directory: string,
    private readonly redactor: Redactor | undefined,
  ) {
    this.names = existsSync(directory) ? readDirectory(directory).map(({ name }) => name) : [];
  }

  /** Our id of an imported session; undefined if it was not imported. */
  find(agent: string, id: string): string | undefined {
    const suffix = `-${suffixOf(agent, id)}.jsonl`;
    return this.names.find((name) => name.endsWith(suffix))?.slice(0, -".jsonl".length);
  }

  /** Writes the session and those of its sub-agents. */
  save(session: ForeignSession): ImportedSession[] {
    const { agent, parent, children } = session;
    const id = this.find(agent, session.id) ?? `${stampOf(session.createdMs)}-${suffixOf(agent, session.id)}`;
    const parentSession = parent && this.find(agent, parent.sessionId);
    const header = toHeader(session, id, parentSession);
    const entries = toEntries(session);
    if (!this.names.includes(`${id}.jsonl`)) this.names.push(`${id}.jsonl`);
    const saved = children.flatMap((child) => this.save(child));
    const links = children.flatMap((child) => toLink(child, this.find(agent, child.id)));
    const change = this.write(header, [...entries, ...links]);
    const messages = entries.filter(({ type }) => type === "message").length;
    const calls = entries.map((entry) =>
      entry.type === "message" && entry.message.role === "assistant" ? toolCallsOf(entry.message).length : 0,
    );
    const toolCalls = calls.reduce((sum, count) => sum + count, 0);
    return [
      { source: session.path, id, messages, toolCalls, skipped: { ...session.skipped }, change },
      ...saved,
    ];
  }

  private write(header: SessionHeader, entries: readonly SessionEntry[]): ImportedSession["change"] {
    const path = join(this.directory, `${header.id}.jsonl`);
    const isThere = existsSync(path);
    const before = isThere ? readSessionFile(path).entries : [];
    const known = new Set(before.map(({ id }) => id));
    const added = entries.filter(({ id }) => !known.has(id));
    const ownLeaf = findOwnLeaf(before, entries);
    const move = moveLeaf([...before, ...added], ownLeaf ?? entries.findLast(isContinuable)?.id, header);
    if (isThere && added.length + move.length === 0) return "unchanged";
    const lines: object[] = [...(isThere ? [] : [header]), ...[...added, ...move].map(toFileLine)];
    const file = new JsonlWriter(path);
    try {
      for (const line of lines) {
        const redacted = this.redactor?.redact(line) ?? line;
        // If the disk became full in the middle of the line, the second attempt fails.
        while (file.append(redacted) === 0);
      }
      file.sync();
    } finally {
      file.close();
    }
    if (!isThere) return "new";
    return ownLeaf !== undefined && added.some(isContinuable) ? "branched" : "updated";
  }
}

/** The end of the conversation if the user has continued it here. @param reading all entries of the other agent. */
function findOwnLeaf(entries: readonly SessionEntry[], reading: readonly SessionEntry[]): string | undefined {
  const leafId = findLeafId(entries);
  const read = new Set(reading.map(({ id }) => id));
  const path = pathTo(entries, leafId);
  const start = path.findIndex(({ id }) => !read.has(id));
  if (leafId === null || start === -1) return undefined;
  // Only this program's own requests have entries; what has none was read from the other agent earlier.
  const ends = new Set<string | null>(path.slice(Math.max(0, start - 1)).map(({ id }) => id));
  return entries.some(({ type, parentId }) => type === "request" && ends.has(parentId)) ? leafId : undefined;
}

/** An entry that makes the conversation continue after `end`; none if it does. A leaf is the last entry of its file. */
function moveLeaf(
  entries: readonly SessionEntry[],
  end: string | undefined,
  { source }: SessionHeader,
): SessionEntry[] {
  const fromId = findLeafId(entries);
  if (end === undefined || fromId === null || !source) return [];
  const last = pathTo(entries, fromId).findLast(
    (entry) => entry.id === end || (isContinuable(entry) && entry.type !== "branch_summary"),
  );
  if (last?.id === end) return [];
  const summary = `In ${source.agent}, there are messages that are not part of this conversation.`;
  const content = { type: "branch_summary" as const, fromId, summary };
  return [{ ...content, ...new EntryChain(source.agent).besides(now(), content, end) }];
}

function suffixOf(agent: string, id: string): string {
  return Bun.SHA256.hash(`${agent}\0${id}`, "hex").slice(0, SUFFIX_DIGITS);
}

/** `YYYYMMDDHHmmss` in UTC. */
function stampOf(createdMs: number): string {
  return new Date(createdMs).toISOString().replace(/[-:T]/g, "").slice(0, 14);
}

function toHeader(session: ForeignSession, id: string, parentSession: string | undefined): SessionHeader {
  const { agent, path, size, version, gitBranch, cwd, createdMs, parent } = session;
  const source: SessionSource = {
    agent,
    id: session.id,
    path,
    size,
    ...(version !== undefined && { version }),
    ...(gitBranch !== undefined && { gitBranch }),
  };
  return {
    type: "session",
    version: SESSION_VERSION,
    id,
    timestamp: new Date(createdMs).toISOString(),
    cwd,
    // Without its parent, a sub-agent's session must not be hidden from lists.
    ...(parent && parentSession !== undefined && { parentSession, agent: parent.agent }),
    source,
  };
}

/**
 * The entries of a session, as one branch. An id follows from the entry and all before it: the same conversation gets
 * the same ids again, and one that differs from some entry on becomes a branch there.
 */
export function toEntries(session: ForeignSession): SessionEntry[] {
  const chain = new EntryChain(session.agent);
  const keys = new Map<string, string>();
  const entries: SessionEntry[] = [];
  for (const item of session.items) {
    const entry = toEntry(item, chain, keys);
    if (!entry) continue;
    if ("key" in item && item.key !== undefined) keys.set(item.key, entry.id);
    entries.push(entry);
  }
  const { name, createdMs } = session;
  if (name?.trim()) {
    const info = {
      type: "session_info" as const,
      name: name.replace(/\s+/g, " ").slice(0, MAX_NAME).toWellFormed(),
    };
    entries.unshift({ ...info, ...chain.besides(createdMs, info) });
  }
  return entries;
}

const MAX_NAME = 100;

/** @param keys our ids by the other agent's. */
function toEntry(
  item: ForeignItem,
  chain: EntryChain,
  keys: ReadonlyMap<string, string>,
): SessionEntry | undefined {
  const { at } = item;
  switch (item.kind) {
    case "message": {
      const content = { type: "message" as const, message: item.message };
      return { ...content, ...chain.next(at, content) };
    }
    case "model": {
      const content = { type: "model_change" as const, provider: item.provider, modelId: item.modelId };
      return { ...content, ...chain.next(at, content) };
    }
    case "branch_summary": {
      const content = { type: "branch_summary" as const, fromId: "", summary: item.summary };
      return { ...content, ...chain.next(at, content) };
    }
    case "compaction": {
      const { summary, tokensBefore, keptKey, userTokens } = item;
      const content = {
        type: "compaction" as const,
        summary,
        tokensBefore,
        tokensAfter: 0,
        ...(userTokens !== undefined && { pinnedTokens: userTokens }),
      };
      const position = chain.next(at, content);
      // Its own id keeps nothing.
      const firstKeptEntryId = (keptKey === undefined ? undefined : keys.get(keptKey)) ?? position.id;
      return { ...content, firstKeptEntryId, ...position };
    }
    case "label": {
      const targetId = keys.get(item.targetKey);
      if (targetId === undefined) return undefined;
      const content = { type: "label" as const, targetId, label: item.label };
      return { ...content, ...chain.besides(at, content) };
    }
    case "note": {
      const data = { agent: chain.agent, label: item.label, text: item.text };
      const content = { type: "custom" as const, customType: "foreign_note", data };
      return { ...content, ...chain.next(at, content) };
    }
  }
}

function toLink(child: ForeignSession, sessionId: string | undefined): SessionEntry[] {
  const toolCallId = child.parent?.toolCallId;
  if (toolCallId === undefined || sessionId === undefined) return [];
  const content = {
    type: "task_link" as const,
    toolCallId,
    sessionId,
    agent: child.parent?.agent ?? "agent",
  };
  return [{ ...content, ...new EntryChain(child.agent).besides(child.createdMs, content) }];
}

/** The positions of entries, one after the other. */
class EntryChain {
  private last: string | null = null;
  private readonly used = new Set<string>();

  constructor(readonly agent: string) {}

  /** The position after the last one. */
  next(at: number, content: object): Pick<SessionEntry, "id" | "parentId" | "timestamp"> {
    const position = this.besides(at, content, this.last);
    this.last = position.id;
    return position;
  }

  /** A position that no other entry follows. */
  besides(
    at: number,
    content: object,
    parentId: string | null = null,
  ): Pick<SessionEntry, "id" | "parentId" | "timestamp"> {
    const text = JSON.stringify(content);
    let id = "";
    for (let attempt = 0; id === "" || this.used.has(id); attempt++)
      id = Bun.SHA256.hash(`${parentId}\0${at}\0${text}\0${attempt}`, "hex").slice(0, 8);
    this.used.add(id);
    return { id, parentId, timestamp: new Date(at).toISOString() };
  }
}
