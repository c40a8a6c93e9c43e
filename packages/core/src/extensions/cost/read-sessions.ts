import { dirname, join } from "node:path";
import { readSessionFile } from "../../session/persistence.ts";
import type { SessionFile, SessionReadOptions } from "../../session/read-file.ts";
import type { SessionEntry } from "../../session/types.ts";
import { listChildSessions } from "./cost-report.ts";

// A file may name any number of sessions, whose files name others.
const MAX_SESSIONS = 1_000;

/**
 * Reads a session and the sessions of its sub-agents, which are in the same directory. A child whose file is missing or
 * damaged is left out.
 * @throws SessionFileError if the first one cannot be read.
 */
export function readWithChildren(path: string, options: SessionReadOptions = {}): SessionFile[] {
  const file = readSessionFile(path, options);
  return [file, ...readChildren(dirname(path), file, options)];
}

/** The sessions of the sub-agents of an open session, see `readWithChildren`. */
export function readChildren(
  directory: string,
  parent: { header: { id: string }; entries: readonly SessionEntry[] },
  options: SessionReadOptions = {},
): SessionFile[] {
  const read: SessionFile[] = [];
  const known = new Set([parent.header.id]);
  const waiting = listChildSessions(parent.entries);
  for (let id = waiting.shift(); id !== undefined && read.length < MAX_SESSIONS; id = waiting.shift()) {
    // An id is part of a path.
    if (known.has(id) || !/^[0-9a-f-]+$/.test(id)) continue;
    known.add(id);
    const child = readChild(join(directory, `${id}.jsonl`), options);
    if (child === undefined) continue;
    read.push(child);
    waiting.push(...listChildSessions(child.entries));
  }
  return read;
}

function readChild(path: string, options: SessionReadOptions): SessionFile | undefined {
  try {
    return readSessionFile(path, options);
  } catch {
    // Deleted, or damaged: what it cost is unknown.
    return undefined;
  }
}
