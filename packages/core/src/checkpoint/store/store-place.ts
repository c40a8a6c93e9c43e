import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../infrastructure/environment.ts";
import { userStateDirectory } from "../../infrastructure/places/user-directories.ts";

// Sixteen digits tell all projects of a person apart.
const PROJECT_DIGITS = 16;
const GENERATION = /^\d{6}$/;
const SAFE_NAME = /^[\w-]{1,80}$/;

/** `checkpoints` in the user's state directory; undefined without one. */
export function checkpointsDirectory(environment: Environment): string | undefined {
  const state = userStateDirectory(environment);
  return state && join(state, "checkpoints");
}

/** Where a project's checkpoints are. @param root absolute and real. */
export function projectDirectory(checkpoints: string, root: string): string {
  return join(checkpoints, Bun.SHA256.hash(root, "hex").slice(0, PROJECT_DIGITS));
}

/**
 * Checkpoints lie in numbered places, the newest last. A new one is begun when the newest has grown large, so that what is
 * old can be dropped as a whole: nothing in one place needs another.
 */
export function listGenerations(project: string): string[] {
  return listNames(project)
    .filter((name) => GENERATION.test(name))
    .sort()
    .map((name) => join(project, name));
}

/** Makes the first place, or the one behind `last`. @throws errors of the file system. */
export function makeGeneration(project: string, last?: string): string {
  const number = last === undefined ? 1 : Number(last.slice(-6)) + 1;
  const generation = join(project, String(number).padStart(6, "0"));
  for (const inner of [packsOf(generation), processesOf(generation)])
    mkdirSync(inner, { recursive: true, mode: 0o700 });
  return generation;
}

/** The contents of files, and their indexes. */
export function packsOf(generation: string): string {
  return join(generation, "packs");
}

/** A file for each process that works in it. */
export function processesOf(generation: string): string {
  return join(generation, "processes");
}

/** A directory for each session, with its logs. */
export function sessionsOf(generation: string): string {
  return join(generation, "sessions");
}

/** The logs of one session: one for each process that has held it. The id may come from a file that somebody else wrote. */
export function sessionOf(generation: string, sessionId: string): string {
  const name = SAFE_NAME.test(sessionId) ? sessionId : `id-${Bun.SHA256.hash(sessionId, "hex").slice(0, 32)}`;
  return join(sessionsOf(generation), name);
}

/** The names in a directory; none where there is no such directory, or it may not be read. */
export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Then there is nothing of ours in it.
  }
}

/** Bytes of all files in a directory and below it. */
export function sizeOf(directory: string): number {
  let size = 0;
  for (const name of listNames(directory)) {
    const path = join(directory, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) size += sizeOf(path);
    else size += stats?.size ?? 0;
  }
  return size;
}
