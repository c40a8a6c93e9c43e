import { resolve } from "node:path";
import { isEnterableDirectory } from "../infrastructure/reading/path-kind.ts";
import { findRealPath } from "../infrastructure/reading/real-path.ts";
import type { Pipeline, SimpleCommand } from "./command-syntax.ts";

/** Where a shell may be, absolute and real; undefined where that cannot be told. */
export type Places = readonly string[] | undefined;

/** Where it may be after what it has run so far, by how that ended. */
export interface Whereabouts {
  success: Places;
  failure: Places;
}

/** Where the next pipeline starts. */
export function placesBefore(runs: Pipeline["runs"], { success, failure }: Whereabouts): Places {
  if (runs === "after_success") return success;
  return runs === "after_failure" ? failure : unite(success, failure);
}

/**
 * Where the shell may be after a pipeline that started in `before`. `isUndisturbed`: nothing on the line so far can have
 * changed a directory, so that what is there now is still there.
 */
export function placesAfter(
  { runs, commands }: Pipeline,
  before: Places,
  { after, isUndisturbed }: { after: Whereabouts; isUndisturbed: boolean },
): Whereabouts {
  const [only, ...others] = commands;
  // What is piped runs in shells of its own, which take their directory with them.
  const moves = only?.[0]?.text === "cd" && others.length === 0;
  const moved = moves ? before?.map((place) => findDestination(only, place)) : before;
  const success = moved?.every((place) => place !== undefined) ? moved : undefined;
  const isSure = moves && isUndisturbed && success?.every(isEnterableDirectory) === true;
  const failure = isSure ? [] : before;
  if (runs === "after_success") return { success, failure: unite(after.failure, failure) };
  if (runs === "after_failure") return { success: unite(after.success, success), failure };
  return { success, failure };
}

/**
 * Where a `cd` from `place` leads: undefined unless it is one plain word and no link is on the way. A shell remembers
 * the names of links and programs see where they lead, so that `..` would mean two places afterwards.
 */
export function findDestination([, target, ...others]: SimpleCommand, place: string): string | undefined {
  const isPlain = target && others.length === 0 && !target.isGlob && /^[^-]/.test(target.text);
  if (!isPlain) return undefined;
  const destination = resolve(place, target.text);
  return findRealPath(destination, place) === destination ? destination : undefined;
}

// Each cd that may fail doubles them.
const MAX_PLACES = 16;

function unite(left: Places, right: Places): Places {
  const all = left && right && [...new Set([...left, ...right])];
  return all && all.length > MAX_PLACES ? undefined : all;
}
