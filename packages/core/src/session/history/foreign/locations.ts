import { realpathSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type DirectoryEntry, readDirectory } from "../../../infrastructure/fs/directory.ts";
import { readLines, readSmallText } from "../../../infrastructure/fs/read.ts";
import { type Environment, homeDirectory } from "../../../infrastructure/runtime.ts";
import { systemErrorText } from "../../../infrastructure/system-error.ts";
import { geminiDirectory } from "./gemini.ts";
import { objectOf, parseRecord, textOf } from "./json-value.ts";
import { listDatabaseSessions } from "./opencode.ts";
import type { ForeignAgent, ForeignLocation } from "./types.ts";

/** The sessions of an agent, and what could not be read. */
export interface ForeignListing {
  locations: ForeignLocation[];
  /** Sentences that name a file. */
  problems: string[];
}

// Deep enough for every layout, and an end for directories that contain themselves.
const MAX_DEPTH = 6;

/**
 * The sessions of an agent in its own directories. Links are not followed, except for the directories themselves.
 * Missing directories have no sessions.
 */
export async function listForeignSessions(
  agent: ForeignAgent,
  environment: Environment,
): Promise<ForeignListing> {
  const listing: ForeignListing = { locations: [], problems: [] };
  for (const root of agentDirectories(agent, environment)) await addLocations(listing, agent, root);
  return listing;
}

/**
 * The sessions in a file or directory that the user named.
 * @throws the file system's error if there is none.
 */
export async function findForeignSessions(agent: ForeignAgent, path: string): Promise<ForeignListing> {
  const real = realpathSync(path);
  const listing: ForeignListing = { locations: [], problems: [] };
  if (statSync(real).isDirectory()) await addLocations(listing, agent, real);
  else if (agent === "opencode" && real.endsWith(".db")) await addDatabase(listing, real);
  else addFile(listing.locations, agent, real);
  return listing;
}

/** Where an agent keeps its sessions. */
export function agentDirectories(agent: ForeignAgent, environment: Environment): string[] {
  const home = homeDirectory(environment);
  const named = (name: string) => {
    const value = environment[name];
    return value !== undefined && isAbsolute(value) ? value : undefined;
  };
  const below = (...parts: string[]) => (home === undefined ? undefined : join(home, ...parts));
  const directories = (): (string | undefined)[] => {
    switch (agent) {
      case "claude-code": {
        const base = named("CLAUDE_CONFIG_DIR") ?? below(".claude");
        return [base && join(base, "projects")];
      }
      case "codex": {
        const base = named("CODEX_HOME") ?? below(".codex");
        return [base && join(base, "sessions"), base && join(base, "archived_sessions")];
      }
      case "pi":
        return [below(".pi", "agent", "sessions")];
      case "opencode": {
        const base = named("XDG_DATA_HOME") ?? below(".local", "share");
        return [base && join(base, "opencode")];
      }
      case "gemini":
        return [below(".gemini", "tmp")];
    }
  };
  return directories().filter((directory) => directory !== undefined);
}

const IS_SESSION: Readonly<Record<ForeignAgent, (path: string) => boolean>> = {
  "claude-code": (path) => path.endsWith(".jsonl") && !path.includes("/subagents/"),
  codex: (path) => path.endsWith(".jsonl"),
  pi: (path) => path.endsWith(".jsonl"),
  opencode: (path) => /\/storage\/session\/[^/]+\/[^/]+\.json$/.test(path),
  gemini: (path) => /\/chats\/(?:[^/]+\/)?[^/]+\.jsonl?$/.test(path),
};

async function addLocations(listing: ForeignListing, agent: ForeignAgent, root: string): Promise<void> {
  const found: ForeignLocation[] = [];
  const databases: string[] = [];
  walk(root, 0, (path) => {
    if (agent === "opencode" && /\/opencode[^/]*\.db$/.test(path)) databases.push(path);
    else if (IS_SESSION[agent](path)) addFile(found, agent, path);
  });
  for (const path of databases) await addDatabase(listing, path);
  const own = new Set(listing.locations.map(({ sessionId }) => sessionId));
  // After the change to a database, the old files stay where they were.
  const isNew = ({ path }: ForeignLocation) => !own.has(/([^/]+)\.json$/.exec(path)?.[1]);
  listing.locations.push(
    ...(agent === "opencode" ? found.filter(isNew) : agent === "gemini" ? newestOfGroups(found) : found),
  );
}

function walk(directory: string, depth: number, visit: (path: string) => void): void {
  for (const { name, kind } of entriesOf(directory)) {
    const path = join(directory, name);
    if (kind === "directory" && depth < MAX_DEPTH) walk(path, depth + 1, visit);
    if (kind === "file") visit(path);
  }
}

function entriesOf(directory: string): DirectoryEntry[] {
  try {
    return readDirectory(directory);
  } catch {
    return []; // Missing, or not readable: there are no sessions to show.
  }
}

function addFile(locations: ForeignLocation[], agent: ForeignAgent, path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile())
    locations.push({ agent, path, size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) });
}

async function addDatabase({ locations, problems }: ForeignListing, path: string): Promise<void> {
  try {
    for (const { id, modifiedMs, directory } of await listDatabaseSessions(path))
      locations.push({ agent: "opencode", path, sessionId: id, directory, size: 0, modifiedMs });
  } catch (error) {
    problems.push(`${path} cannot be read: ${systemErrorText(error)}`);
  }
}

/**
 * Resuming a session of gemini-cli leaves a second file with its id that has next to nothing in it. The name ends with
 * the beginning of the id.
 */
function newestOfGroups(locations: readonly ForeignLocation[]): ForeignLocation[] {
  const largest = new Map<string, ForeignLocation>();
  for (const location of locations) {
    const match = /^(.*\/)session-.*-([0-9a-f]{8})\.jsonl?$/.exec(location.path);
    const key = match ? `${match[1]}${match[2]}` : location.path;
    const known = largest.get(key);
    if (!known || known.size < location.size) largest.set(key, location);
  }
  return [...largest.values()];
}

// The directory is in the first lines of a session.
const PEEKED_LINES = 50;
const PEEKED_BYTES = 1_048_576;

/** The directory in which a session worked, from its beginning; empty if it is unknown. */
export function directoryOfSession({ agent, path, directory }: ForeignLocation): string {
  if (directory !== undefined) return directory;
  if (agent === "gemini") return geminiDirectory(path);
  try {
    if (agent === "opencode") {
      const record = parseRecord(readSmallText(path, PEEKED_BYTES) ?? "");
      return textOf(record?.directory) ?? textOf(objectOf(record?.info)?.directory) ?? "";
    }
    let count = 0;
    for (const { text } of readLines(path, { maxLineBytes: PEEKED_BYTES })) {
      const record = parseRecord(text);
      const cwd = textOf(record?.cwd) ?? textOf(objectOf(record?.payload)?.cwd);
      if (cwd) return cwd;
      if (++count >= PEEKED_LINES) break;
    }
  } catch {
    // Removed since it was listed, or not readable.
  }
  return "";
}
