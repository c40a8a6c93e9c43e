import { Slices } from "./slices.ts";
import { writeBase } from "./store/base-file.ts";
import { BlobStore } from "./store/blob-store.ts";
import { findCutOffTurn, findKnownEntries } from "./store/known-entries.ts";
import { lastTimeOf, readSegments, unfinishedRestorings } from "./store/read-segments.ts";
import { listGenerations } from "./store/store-place.ts";
import { toCutOffStep } from "./timeline/cut-off-step.ts";
import type { Move } from "./timeline/types.ts";
import { ProjectState } from "./tree/project-state.ts";
import type { CheckpointOptions } from "./types.ts";
import type { CheckpointPlace, Workplace } from "./workplace.ts";

/** A project that is kept. */
export interface KeptProject {
  /** What is no longer needed once this process has noted something down. */
  supersededBase: string | undefined;
  store: BlobStore;
  state: ProjectState;
  /** An undo or redo of the session that was cut off halfway. */
  halfMove: Move | undefined;
}

/**
 * Looks at everything in the project and keeps it, in pieces.
 * @throws StoppedError once `signal` is aborted, TooLargeError, and errors of the file system; what it has made is removed then.
 */
export async function keepProject(
  workplace: Workplace,
  place: CheckpointPlace,
  { options, signal }: { options: CheckpointOptions; signal: AbortSignal },
): Promise<KeptProject> {
  const slices = new Slices(signal);
  const own = { directory: workplace.packs, name: workplace.name };
  // What lies in an older place may be dropped before this one is.
  const store = await BlobStore.open({ directories: [workplace.packs], own }, slices);
  using _ = whenAborted(signal, () => store.discard());
  try {
    const segments = readSegments(listGenerations(place.project), options.sessionId);
    workplace.noticeTime(lastTimeOf(segments));
    const cutOff = await findCutOffTurn(segments, slices);
    const known = cutOff ?? (await findKnownEntries(workplace.generation, slices));
    const { limits, except } = place;
    const state = new ProjectState({ root: options.root, store, limits, except }, known.entries);
    const changes = await state.update({ signal });
    workplace.prepareBase();
    await writeBase(workplace.basePath, state.entries, slices);
    await slices.pause();
    if (cutOff)
      workplace.segment.append(toCutOffStep(options.root, cutOff, { at: workplace.nextAt(), changes }));
    const halfMove = unfinishedRestorings(segments).current.at(-1)?.move;
    return { store, state, halfMove, supersededBase: "base" in known ? known.base : undefined };
  } catch (error) {
    store.discard();
    throw error;
  }
}

/** Calls `clean` at the very moment of the abort, until it is disposed of. */
export function whenAborted(signal: AbortSignal, clean: () => void): Disposable {
  signal.addEventListener("abort", clean);
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", clean) };
}
