import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listNames } from "../../infrastructure/fs/stat.ts";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import { isProcessAlive, ownIdentity, type ProcessIdentity } from "../../infrastructure/process/tree.ts";
import { type Environment, randomHex } from "../../infrastructure/runtime.ts";
import type { CheckpointLimits, CheckpointScope } from "../types.ts";

// Sixteen digits are enough to distinguish all projects of a user.
const PROJECT_DIGITS = 16;
const GENERATION = /^\d{6}$/;
const SAFE_NAME = /^[\w-]{1,80}$/;

/** `checkpoints` in the user's state directory; undefined without one. */
export function checkpointsDirectory(environment: Environment): string | undefined {
  const state = userStateDirectory(environment);
  return state && join(state, "checkpoints");
}

/** The directory of a project's checkpoints; those of different scopes share nothing. @param root absolute and real. */
export function projectDirectory(
  checkpoints: string,
  root: string,
  scope: CheckpointScope = "project",
): string {
  const name = Bun.SHA256.hash(root, "hex").slice(0, PROJECT_DIGITS);
  return join(checkpoints, scope === "project" ? name : `${name}-git`);
}

/** The file with what sessions took away from the repositories of a project; see `recordLoss`. */
export function lossLogOf(checkpoints: string, root: string): string {
  return join(projectDirectory(checkpoints, root), "lost-history.jsonl");
}

/**
 * The generations of a project, the newest last. Checkpoints are stored in numbered generations; when the newest has
 * grown large, another one is started, so that an old one can be deleted as a whole: no generation needs another.
 */
export function listGenerations(project: string): string[] {
  return listNames(project)
    .filter((name) => GENERATION.test(name))
    .sort()
    .map((name) => join(project, name));
}

/** Creates the first generation, or the one after `last`. @throws errors of the file system. */
export function makeGeneration(project: string, last?: string): string {
  const number = last === undefined ? 1 : Number(last.slice(-6)) + 1;
  const generation = join(project, String(number).padStart(6, "0"));
  for (const inner of [packsOf(generation), processesOf(generation)])
    mkdirSync(inner, { recursive: true, mode: 0o700 });
  return generation;
}

/** The directory of contents and their indexes. */
export function packsOf(generation: string): string {
  return join(generation, "packs");
}

/** The directory with a file for each process that uses the generation. */
export function processesOf(generation: string): string {
  return join(generation, "processes");
}

/** The directory of session logs. */
export function sessionsOf(generation: string): string {
  return join(generation, "sessions");
}

/** The logs of one session: one for each process that has worked in it. The id may come from a foreign file. */
export function sessionOf(generation: string, sessionId: string): string {
  const name = SAFE_NAME.test(sessionId) ? sessionId : `id-${Bun.SHA256.hash(sessionId, "hex").slice(0, 32)}`;
  return join(sessionsOf(generation), name);
}

/** The size in bytes of all files in and below a directory; what has another name elsewhere takes no room here. */
export function sizeOf(directory: string): number {
  let size = 0;
  for (const name of listNames(directory)) {
    const path = join(directory, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) size += sizeOf(path);
    else if (stats?.nlink === 1) size += stats.size;
  }
  return size;
}

// This share of the remaining room may be filled before it is measured again.
const UNCHECKED_SHARE = 1 / 16;

/** There is no room left for checkpoints. */
export class StoreFullError extends Error {
  override name = "StoreFullError";
}

/** The room that the checkpoints of all projects share. */
export class StoreRoom {
  /** Bytes that this process had added when the room was last measured. */
  private checkedSize = 0;
  /** How many earlier sessions lost their checkpoints at the start of this one. */
  readonly droppedSessions: number;

  /**
   * Deletes the oldest checkpoints if necessary.
   * @param checkpoints the directory of all of them.
   * @throws StoreFullError if that is not enough, and errors of the file system.
   */
  constructor(
    private readonly checkpoints: string,
    private readonly limits: Pick<CheckpointLimits, "storeBytes">,
  ) {
    this.droppedSessions = this.make();
  }

  /** @param ownSize bytes that this process has added so far. @throws like the constructor. */
  check(ownSize: number): void {
    if (ownSize - this.checkedSize < this.limits.storeBytes * UNCHECKED_SHARE) return;
    this.checkedSize = ownSize;
    this.make();
  }

  private make(): number {
    const { storeBytes } = this.limits;
    const { used, droppedSessions } = makeRoom(this.checkpoints, storeBytes);
    if (used <= storeBytes) return droppedSessions;
    const size = Math.round(storeBytes / 1024 / 1024);
    throw new StoreFullError(`checkpoints take more than ${size} MB (${this.checkpoints})`);
  }
}

/** The space that checkpoints use, and the sessions deleted for it. */
interface Space {
  /** Bytes of all checkpoints now. */
  used: number;
  /** How many sessions have lost their checkpoints. */
  droppedSessions: number;
}

interface Generation {
  path: string;
  size: number;
  changedMs: number;
}

/**
 * Deletes the oldest checkpoints of any project until all of them together take at most `maxBytes`. Generations in use
 * are kept.
 */
function makeRoom(checkpoints: string, maxBytes: number): Space {
  removeLeftovers(checkpoints);
  const generations = listProjects(checkpoints).flatMap(listGenerations).map(measure);
  let used = generations.reduce((sum, { size }) => sum + size, 0);
  let droppedSessions = 0;
  for (const { path, size } of generations.sort((left, right) => left.changedMs - right.changedMs)) {
    if (used <= maxBytes) break;
    if (isInUse(path)) continue;
    droppedSessions += listNames(sessionsOf(path)).length;
    drop(path);
    used -= size;
  }
  return { used, droppedSessions };
}

function listProjects(checkpoints: string): string[] {
  return listNames(checkpoints).map((name) => join(checkpoints, name));
}

function measure(path: string): Generation {
  const times = listNames(path).map((name) => changeTime(join(path, name)));
  const sessions = listNames(sessionsOf(path)).map((name) => changeTime(join(sessionsOf(path), name)));
  return { path, size: sizeOf(path), changedMs: Math.max(0, ...times, ...sessions) };
}

function changeTime(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Renames first, so that it is gone for all other processes even if this one is killed while it removes the files. */
function drop(generation: string): void {
  const leftover = `${generation}.dropped-${randomHex(4)}`;
  renameSync(generation, leftover);
  rmSync(leftover, { recursive: true, force: true });
}

function removeLeftovers(checkpoints: string): void {
  for (const project of listProjects(checkpoints)) {
    const dropped = listNames(project).filter((name) => name.includes(".dropped-"));
    for (const name of dropped) rmSync(join(project, name), { recursive: true, force: true });
  }
}

/** Marks a generation as used by this process until it is disposed. @throws errors of the file system. */
export function announcePresence(generation: string, name: string): Disposable {
  const { pid, startTime } = ownIdentity();
  const path = join(processesOf(generation), `${pid}.${startTime ?? ""}.${name}`);
  writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

/**
 * True while a process uses a generation; the marks of dead processes are removed.
 * @param except the name of a workplace that does not count.
 */
export function isInUse(generation: string, except?: string): boolean {
  const directory = processesOf(generation);
  let isUsed = false;
  for (const name of listNames(directory)) {
    if (except !== undefined && name.endsWith(`.${except}`)) continue;
    const identity = readIdentity(name);
    if (identity && isProcessAlive(identity)) isUsed = true;
    else rmSync(join(directory, name), { force: true });
  }
  return isUsed;
}

function readIdentity(name: string): ProcessIdentity | undefined {
  const [, pid, startTime] = /^(\d{1,10})\.(\d*)\./.exec(name) ?? [];
  if (pid === undefined) return undefined;
  return { pid: Number(pid), startTime: startTime || undefined };
}
