import { controlListStamp } from "../../infrastructure/places/control-files.ts";
import type { ProcessIdentity } from "../../infrastructure/processes/process-identity.ts";
import { isInside } from "../../infrastructure/reading/real-path.ts";
import { type ControlFile, lookAt } from "./control-file.ts";
import type { ControlLook, UnlistableDirectory } from "./control-look.ts";
import { isRepositoryBySigns, type RepositorySigns } from "./repository-signs.ts";

/** Where the commands of a session may write; see `ControlKeeperOptions`. */
export interface JournalPlaces {
  /** The project first. */
  roots: readonly string[];
  gitDirectories: readonly string[];
}

/** What a session has kept. */
export interface Journal extends JournalPlaces {
  look: ControlLook;
}

// Changes with what the lines below say, and with what is looked through.
const VERSION = 5;

/** A name that tells whose it is without being read. */
export function toJournalName({ pid, startTime = "" }: ProcessIdentity, unique: string): string {
  return `${pid}-${startTime}-${unique}.json`;
}

/** Undefined for a name that is none of ours. */
export function parseJournalName(name: string): ProcessIdentity | undefined {
  const [, pid, startTime] = /^([1-9]\d{0,9})-(\d*)-[0-9a-f]+\.json$/.exec(name) ?? [];
  if (pid === undefined) return undefined;
  return { pid: Number(pid), ...(startTime && { startTime }) };
}

export function formatJournal(look: ControlLook, { roots, gitDirectories }: JournalPlaces): string {
  return JSON.stringify({
    version: VERSION,
    list: controlListStamp(),
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
 * What a journal says. `outdated` for one that nothing can be compared with: of another version, or of other directories at
 * the same paths. Undefined for what is no journal of this project.
 */
export function parseJournal(text: string, root: string): Journal | "outdated" | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  if (value.version !== VERSION || value.list !== controlListStamp()) return "outdated";
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

function parseFile(value: unknown): ControlFile | undefined {
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
