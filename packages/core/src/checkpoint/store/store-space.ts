import { renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { randomHex } from "../../infrastructure/random-hex.ts";
import { isInUse } from "./presence.ts";
import { listGenerations, listNames, sessionsOf, sizeOf } from "./store-place.ts";

/** How much room checkpoints take, and what that has cost. */
export interface Space {
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
 * Drops the oldest checkpoints, of whatever project, until all of them together take no more than `maxBytes`. What a process
 * works in stays.
 */
export function makeRoom(checkpoints: string, maxBytes: number): Space {
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

/** It is gone at once for everybody else, also when this process is killed while its files are removed. */
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
