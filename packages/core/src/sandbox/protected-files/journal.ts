import { mkdirSync, renameSync, rmdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import { protectedListStamp } from "../../infrastructure/paths/protected-files.ts";
import { ownIdentity, type ProcessIdentity } from "../../infrastructure/process/tree.ts";
import { now, randomHex } from "../../infrastructure/runtime.ts";
import { isRepositoryBySigns } from "./directory.ts";
import {
  isSameScan,
  lookAt,
  type ProtectedFile,
  type ProtectedFileScan,
  type RepositorySigns,
  type UnlistableDirectory,
} from "./types.ts";

// Twice as long as the time between two touches; more, and what the user makes after a session was killed counts as its.
const LEASE_MS = 4_000;

// A look that finds more lets no command run.
const MAX_FILES = 2_000;

/**
 * The state of protected files before sandboxed commands, in a file of the state directory: a killed session does
 * not recover anything, so a later one has to detect new files. The file's time is the moment until which sandboxed
 * commands may be running, unless it is touched again.
 */
export class ProtectedFileJournal {
  private readonly path: string;
  private kept: ProtectedFileScan | undefined;
  private isOver = false;
  private isAtRest = true;
  /** The file's times, in seconds. */
  private until: [accessed: number, changed: number] = [0, 0];

  /** @param directory the project's own; see `protectedFileJournalDirectory`. It need not exist. */
  constructor(
    private readonly directory: string,
    private readonly places: JournalLocations,
  ) {
    this.path = join(directory, toJournalName(ownIdentity(), randomHex(3)));
  }

  /**
   * Written only where it is another than before. One that is not whole takes the place of none. Where it is too much or
   * cannot be written, nothing is kept: what comes about later would be told by a look of long ago. That keeps no command
   * from running.
   */
  keep(look: ProtectedFileScan): void {
    if (this.isOver || !look.isComplete) return;
    if (this.kept && isSameScan(this.kept, look)) return;
    try {
      if (look.files.size > MAX_FILES) this.drop();
      else this.write(look);
    } catch {
      this.drop(); // A full disk: a session that is not killed does without.
    }
  }

  /** Boxed commands may be at work from now on, until the next call or for a few seconds. */
  extend(): void {
    this.isAtRest = false;
    this.touch(now() + LEASE_MS);
  }

  /** None is at work any more. What comes later is not theirs, whenever this is called again. */
  rest(): void {
    if (this.isAtRest) return;
    this.isAtRest = true;
    // What was made in the last millisecond has a fraction more.
    this.touch(now() + 1);
  }

  /** Nothing is left to be told, and will not be: all was looked after. */
  end(): void {
    this.isOver = true;
    this.drop();
    try {
      rmdirSync(this.directory);
    } catch {
      // Other sessions keep theirs in it, or it was never made.
    }
  }

  private write(look: ProtectedFileScan): void {
    const draft = `${this.path}.draft`;
    const text = formatJournal(look, this.places);
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { mode: 0o600 });
    // Whoever reads it after a kill finds one whole look, and a time that is not too early.
    utimesSync(draft, ...this.until);
    renameSync(draft, this.path);
    this.kept = look;
  }

  private drop(): void {
    this.kept = undefined;
    try {
      // Where it cannot be removed, nothing is as old as it says.
      utimesSync(this.path, 0, 0);
      rmSync(this.path, { force: true });
    } catch {
      // There is none, or the file system has become read-only: its moment is over in some seconds anyway.
    }
  }

  private touch(atMs: number): void {
    this.until = [atMs / 1000, atMs / 1000];
    if (this.kept === undefined) return;
    try {
      utimesSync(this.path, ...this.until);
    } catch {
      this.kept = undefined; // Somebody has removed it: it is written again with the next look.
    }
  }
}

/** Where the commands of a session may write; see `ProtectedFileGuardOptions`. */
interface JournalLocations {
  /** The project first. */
  roots: readonly string[];
  gitDirectories: readonly string[];
}

/** What a session has kept. */
export interface Journal extends JournalLocations {
  look: ProtectedFileScan;
}

// Changes with what the lines below say, and with what is looked through.
const VERSION = 5;

/** A name that tells whose it is without being read. */
function toJournalName({ pid, startTime = "" }: ProcessIdentity, unique: string): string {
  return `${pid}-${startTime}-${unique}.json`;
}

/** Undefined for a name that is none of ours. */
export function parseJournalName(name: string): ProcessIdentity | undefined {
  const [, pid, startTime] = /^([1-9]\d{0,9})-(\d*)-[0-9a-f]+\.json$/.exec(name) ?? [];
  if (pid === undefined) return undefined;
  return { pid: Number(pid), ...(startTime && { startTime }) };
}

export function formatJournal(look: ProtectedFileScan, { roots, gitDirectories }: JournalLocations): string {
  return JSON.stringify({
    version: VERSION,
    list: protectedListStamp(),
    roots: roots.map((path) => ({ path, identity: lookAt(path)?.identity })),
    gitDirectories,
    shallowRoots: look.shallowRoots,
    files: [...look.files.values()],
    unlistable: [...look.unlistable.values()],
    signs: [...look.signs.values()],
    lookedInto: look.gitDirectories,
    named: [...look.named],
  });
}

/**
 * Parses a journal. `outdated` for one that nothing can be compared with: of another version, or of other
 * directories at the same paths. Undefined if it is not a journal of this project.
 */
export function parseJournal(text: string, root: string): Journal | "outdated" | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  if (value.version !== VERSION || value.list !== protectedListStamp()) return "outdated";
  const roots = parseList(value.roots, parseUnlistable);
  const gitDirectories = parseList(value.gitDirectories, parsePath);
  const shallowRoots = parseList(value.shallowRoots, parsePath);
  const files = parseList(value.files, parseFile);
  const unlistable = parseList(value.unlistable, parseUnlistable);
  const lookedInto = parseList(value.lookedInto, parsePath);
  const signs = parseList(value.signs, parseSigns);
  const named = parseList(value.named, (path) => (typeof path === "string" ? path : undefined));
  if (!roots || !gitDirectories || !shallowRoots || !files || !unlistable || !lookedInto || !signs || !named)
    return undefined;
  const places = [...roots.map(({ path }) => path), ...gitDirectories];
  const isOurs = ({ path }: { path: string }) => places.some((place) => isInside(path, place));
  if (roots[0]?.path !== root || ![...files, ...unlistable, ...signs].every(isOurs)) return undefined;
  if (roots.some(({ path, identity }) => lookAt(path)?.identity !== identity)) return "outdated";
  const look = {
    files: new Map(files.map((file) => [file.path, file])),
    unlistable: new Map(unlistable.map((directory) => [directory.identity, directory])),
    signs: new Map(signs.map((directory) => [directory.identity, directory])),
    directories: new Map(),
    gitDirectories: lookedInto,
    gitMarks: new Map(),
    named: new Set(named),
    shallowRoots,
    isWalked: true,
    isComplete: true,
  };
  return { roots: roots.map(({ path }) => path), gitDirectories, look };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // Cut off, or somebody else's.
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseList<T>(value: unknown, parse: (item: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.flatMap((item) => parse(item) ?? []);
  return items.length === value.length ? items : undefined;
}

function parsePath(value: unknown): string | undefined {
  const isPath = typeof value === "string" && value.startsWith("/") && !/\0|\/\.{1,2}(?:\/|$)/.test(value);
  return isPath ? value : undefined;
}

function parseIdentity(value: unknown): string | undefined {
  return typeof value === "string" && /^\d+:\d+$/.test(value) ? value : undefined;
}

function parseUnlistable(value: unknown): UnlistableDirectory | undefined {
  if (!isRecord(value)) return undefined;
  const [path, identity] = [parsePath(value.path), parseIdentity(value.identity)];
  return path !== undefined && identity !== undefined ? { path, identity } : undefined;
}

function parseSigns(value: unknown): RepositorySigns | undefined {
  const place = parseUnlistable(value);
  if (place === undefined || !isRecord(value)) return undefined;
  const names = parseList(value.names, (name) => (typeof name === "string" ? name : undefined));
  return names && { ...place, names, isRepository: isRepositoryBySigns(names) };
}

function parseFile(value: unknown): ProtectedFile | undefined {
  const place = parseUnlistable(value);
  if (place === undefined || !isRecord(value)) return undefined;
  const { kind, target } = value;
  const parentIdentity = parseIdentity(value.parentIdentity);
  const repositories = parseList(value.repositories, parsePath);
  const reasons = parseList(value.reasons, (reason) => parseList(reason, parsePath));
  if (parentIdentity === undefined) return undefined;
  const marks = {
    ...(reasons !== undefined && { reasons }),
    ...(repositories !== undefined && { repositories }),
  };
  const rest = { ...place, parentIdentity, ...marks };
  if (kind === "link")
    return typeof target === "string" && target !== "" ? { ...rest, kind, target } : undefined;
  return kind === "directory" || kind === "file" ? { ...rest, kind } : undefined;
}
