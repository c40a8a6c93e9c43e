import { join } from "node:path";
import { TimeSlicer } from "../infrastructure/async.ts";
import { SessionLock } from "../infrastructure/fs/lock.ts";
import { monotonicMs, randomHex, sleep } from "../infrastructure/runtime.ts";
import type { EvaluateOptions } from "./restore/evaluate-change.ts";
import { adoptRestoring, closeOpened, removeTemporaries } from "./restore/restore.ts";
import { findCutOffTurn, toCutOffStep } from "./store/base.ts";
import { BlobStore } from "./store/blobs.ts";
import { listGenerations, packsOf } from "./store/location.ts";
import {
  countDamagedLines,
  findOpenTurn,
  lastTimeOf,
  readSegments,
  type Segment,
  stepsOf,
  unfinishedRestorings,
} from "./store/log.ts";
import { ProjectState } from "./tree/project-state.ts";
import { FileReader } from "./tree/read-file.ts";
import { findRepositories } from "./tree/repositories.ts";
import type { CheckpointOptions, Move, Step } from "./types.ts";
import { type CheckpointLocation, isSameRoot, readRootIdentity, Workplace } from "./workplace.ts";

/** The project's path leads to a directory other than the one in which the session worked. */
class OtherProjectError extends Error {
  override name = "OtherProjectError";
}

/** The work of this process in the session. */
export interface OwnWork {
  /** The workplace that it writes to; a new one is opened when left out. */
  workplace?: Workplace | undefined;
  /** True while a call of the session runs. */
  isWorking?: boolean | undefined;
}

/** The purpose of opening a session's history. */
export interface OpeningOptions {
  location: CheckpointLocation;
  options: CheckpointOptions;
  own: OwnWork;
  /** The requested restoration; left out for reading only. */
  move?: Move | undefined;
  /** Aborting is possible until a file is restored. */
  signal?: AbortSignal | undefined;
  /** True when nothing is restored, so scanned contents need not be recorded. */
  isReading: boolean;
}

/** A session's history, read again: other processes may have continued. */
export interface OpenedSession {
  segments: readonly Segment[];
  workplace: Workplace;
  store: BlobStore;
  steps: readonly Step[];
  evaluateOptions: EvaluateOptions;
  damagedLines: number;
}

/** Undefined when the session is unknown. @throws OtherProjectError, and errors of the store. */
export async function withOpenedSession<T>(
  opening: OpeningOptions,
  use: (session: OpenedSession) => Promise<T>,
): Promise<T | undefined> {
  const { location, options, own, isReading } = opening;
  const generations = listGenerations(location.project);
  const segments = readSegments(generations, options.sessionId);
  if (segments.length === 0) return undefined;
  assertSameRoot(options.root, segments);
  const workplace = own.workplace ?? Workplace.open(location, options);
  workplace.noticeTime(lastTimeOf(segments));
  const ownPack = { directory: workplace.packs, name: `${workplace.name}-${randomHex(4)}` };
  const directories = [...new Set([...generations, workplace.generation])].map(packsOf);
  try {
    const store = await BlobStore.open({ directories, own: ownPack }, new TimeSlicer(opening.signal));
    let isNeeded = !isReading;
    try {
      const { session, hasNoted } = await openSession(opening, { workplace, store, segments });
      isNeeded ||= hasNoted;
      const result = await use(session);
      if (isNeeded) store.flush();
      return result;
    } finally {
      if (isNeeded) store.close();
      else workplace.discard(store);
    }
  } finally {
    if (own.workplace === undefined) workplace.close();
  }
}

/** First records interrupted work: a turn of the model, or a restoration. */
async function openSession(
  opening: OpeningOptions,
  parts: Pick<OpenedSession, "workplace" | "store" | "segments">,
): Promise<{ session: OpenedSession; hasNoted: boolean }> {
  const { root } = opening.options;
  const { limits } = opening.location;
  const evaluateOptions = { root, store: parts.store, reader: new FileReader(), fileBytes: limits.fileBytes };
  const steps = stepsOf(parts.segments);
  const session = {
    ...parts,
    steps,
    evaluateOptions: evaluateOptions,
    damagedLines: countDamagedLines(parts.segments),
  };
  const cutOff = await recordCutOff(opening, session);
  if (cutOff) steps.push(cutOff);
  else steps.push(...(await adoptUnfinished(opening, session)));
  return { session, hasNoted: cutOff !== undefined };
}

/** Needed even for a dry run: changes found now could not be told apart from later ones. */
async function recordCutOff(
  { location, options: { root }, own, signal }: OpeningOptions,
  { workplace, store, segments }: OpenedSession,
): Promise<Step | undefined> {
  if (findWorker(segments, own) !== undefined) return undefined;
  const cutOff = await findCutOffTurn(segments, new TimeSlicer(signal));
  if (!cutOff) return undefined;
  const { limits, except, scope } = location;
  const slices = new TimeSlicer(signal);
  const repositories = scope === "repositories" ? await findRepositories(root, slices) : undefined;
  const state = new ProjectState({ root, store, limits, except, repositories }, cutOff.entries);
  const changes = await state.update({ isLenient: true, signal });
  const line = toCutOffStep(root, cutOff, { at: workplace.nextAt(), changes });
  workplace.segment.append(line);
  return line.step;
}

async function adoptUnfinished(
  { options: { root }, move, isReading, own }: OpeningOptions,
  { workplace, segments, evaluateOptions }: OpenedSession,
): Promise<Step[]> {
  if (move === undefined || findWorker(segments, own) !== undefined) return [];
  const { current, superseded } = unfinishedRestorings(segments);
  const adopted: Step[] = [];
  if (!isReading) for (const each of [...superseded, ...current]) removeTemporaries(root, each);
  for (const each of current) {
    if (!isReading) closeOpened(root, each);
    const step = { ...(await adoptRestoring(each, move, evaluateOptions)), at: workplace.nextAt() };
    if (!isReading) workplace.segment.append({ type: "step", step });
    adopted.push(step);
  }
  return adopted;
}

/** Describes the process that is changing files of the session. */
export function findWorker(segments: readonly Segment[], own: OwnWork): string | undefined {
  if (own.isWorking) return "The model";
  const other = segments.find((segment) => segment.isHeldByOther && findOpenTurn(segment) !== undefined);
  return other && `Another process (${other.header.pid})`;
}

/** @throws OtherProjectError */
function assertSameRoot(root: string, segments: readonly Segment[]): void {
  if (!isRootOf(root, segments))
    throw new OtherProjectError(`${root} is no longer the directory in which this session worked.`);
}

/** False when another directory has replaced the one in which a session worked. */
export function isRootOf(root: string, segments: readonly Segment[]): boolean {
  const now = readRootIdentity(root);
  const known = segments.flatMap(({ header, lines }) => [
    header.rootIdentity,
    ...lines.map((line) => (line.type === "step" ? line.step.rootIdentity : undefined)),
  ]);
  const identities = known.filter((each) => each !== undefined);
  if (now === undefined || identities.length === 0) return true;
  return identities.some((each) => isSameRoot(each, now));
}

const PAUSE_MS = 10;

/** Another process is working in the same session. */
export class BusySessionError extends Error {
  override name = "BusySessionError";
}

/** How long to wait for the lock, and the error after that. */
interface MoveLockOptions {
  /** The longest time to wait. */
  waitMs: number;
  /** The error message after that time. */
  refusal: string;
}

/**
 * Calls `use` while no other process restores files of the project or starts to change some. `use` is told whether it
 * had to wait. @throws BusySessionError, errors of `use`, and errors of the file system.
 */
export async function withMoveLock<T>(
  project: string,
  { waitMs, refusal }: MoveLockOptions,
  use: (hadToWait: boolean) => Promise<T>,
): Promise<T> {
  const lock = new SessionLock(join(project, "moving"));
  const begin = monotonicMs();
  let hadToWait = false;
  while (!(await lock.take())) {
    if (monotonicMs() - begin > waitMs) throw new BusySessionError(refusal);
    hadToWait = true;
    await sleep(PAUSE_MS);
  }
  try {
    return await use(hadToWait);
  } finally {
    lock.release();
  }
}
