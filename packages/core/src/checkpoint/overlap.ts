import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { toSystemPath } from "../infrastructure/reading/byte-name.ts";
import { findOpenTurn, readSegment, type Segment } from "./store/read-segments.ts";
import { listGenerations, listNames, processesOf, sessionsOf } from "./store/store-place.ts";
import type { TreeChange } from "./tree-entry.ts";

// The kernel's clock for files is behind by that much at most.
const TICK_MS = 40;

/** A call of a session, and when it began: others may have worked in the same project since. */
export interface CallSpan {
  /** Where all checkpoints of the project are. */
  project: string;
  root: string;
  sessionId: string;
  /** When the call began; milliseconds since the epoch. */
  begunAt: number;
  /** The only path, beside directories above it, that the call changes, where it is known. */
  written: string | undefined;
}

/** What has changed in the span of a call, by whose work it is. */
export interface SplitChanges {
  changes: TreeChange[];
  /** Others may have done that. */
  foreign: TreeChange[];
  /** As in the span, if that is what was changed. */
  written?: string | undefined;
}

/** Tells what a call has certainly changed from what other sessions in the same project may have changed meanwhile. */
export function splitChanges(all: readonly TreeChange[], span: CallSpan): SplitChanges {
  const { written } = span;
  // Most commands change nothing: then nobody else's work need be looked for.
  if (all.length === 0) return { changes: [], foreign: [] };
  // Where it has not changed what it was to change, by that name at least, anything may be its work.
  const isKnown = written !== undefined && all.some(({ path }) => path === written);
  const isOurs = isKnown
    ? ({ path }: TreeChange) => path === written || written.startsWith(`${path}/`)
    : not(findForeign(span));
  const parts = { changes: all.filter(isOurs), foreign: all.filter(not(isOurs)) };
  return isKnown ? { ...parts, written } : parts;
}

type Test = (change: TreeChange) => boolean;

function not(test: Test): Test {
  return (change) => !test(change);
}

function findForeign(span: CallSpan): Test {
  const tests = listOthers(span).flatMap((segment) => testsOf(segment, span));
  return (change) => tests.some((test) => test(change));
}

function testsOf(segment: Segment, { root, begunAt }: CallSpan): Test[] {
  const paths = new Set<string>();
  for (const line of segment.lines) {
    if (line.type === "restoring" && line.restoring.at >= begunAt)
      for (const { path } of line.restoring.changes) paths.add(path);
    if (line.type !== "step" || line.step.at < begunAt) continue;
    const { written, changes, foreign = [] } = line.step;
    for (const { path } of written === undefined ? [...changes, ...foreign] : changes) paths.add(path);
  }
  const open = findOpenTurn(segment);
  const during: Test[] = open ? [(change) => isDuring(change, open, root)] : [];
  return [({ path }) => paths.has(path), ...during];
}

/** True for what may have changed since the other's call began, which goes on. */
function isDuring(
  { path, after }: TreeChange,
  { at, written }: { at: number; written?: string | undefined },
  root: string,
): boolean {
  if (written !== undefined) return path === written || written.startsWith(`${path}/`);
  if (after === undefined) return true;
  try {
    return lstatSync(toSystemPath(`${root}/${path}`)).ctimeMs >= at - TICK_MS;
  } catch {
    return true; // It went away just now.
  }
}

/** The logs of other sessions in which something was noted since, or which a process still works on. */
function listOthers({ project, sessionId, begunAt }: CallSpan): Segment[] {
  const logs = listGenerations(project).flatMap((generation) => {
    const isHeld = holderTest(generation);
    return listNames(sessionsOf(generation)).flatMap((session) => {
      const directory = join(sessionsOf(generation), session);
      const names = listNames(directory).filter((name) => name.endsWith(".jsonl"));
      return names.map((name) => ({ path: join(directory, name), isHeld: isHeld(name) }));
    });
  });
  const isRecent = (path: string) =>
    (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= begunAt - TICK_MS;
  return logs
    .filter(({ path, isHeld }) => isHeld || isRecent(path))
    .map(({ path }) => path)
    .flatMap((log) => readSegment(log) ?? [])
    .filter(({ header }) => header.sessionId !== sessionId);
}

/** Processes announce themselves by marks that end in the name of their log. */
function holderTest(generation: string): (log: string) => boolean {
  const marks = listNames(processesOf(generation));
  return (log) => marks.some((mark) => mark.endsWith(`.${log.slice(0, -".jsonl".length)}`));
}
