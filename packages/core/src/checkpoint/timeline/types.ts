import type { TreeChange } from "../tree-entry.ts";

/** What was done to the project at one time, as far as this session did it. */
export interface Step {
  id: string;
  /** Milliseconds since the epoch; no two steps of a session have the same. */
  at: number;
  /**
   * `run`: the calls of one turn of the model. `undo`, `redo`, `jump`: everything from `to` on was taken back. `partial`:
   * the same, but not all of it could be.
   */
  kind: "run" | Move | "partial";
  /** Which run of the agent, for `run`. */
  run?: string | undefined;
  /** The session's entry that the changes belong to, for `run`. */
  entryId?: string | undefined;
  /** For `partial`: what was being done. */
  move?: Move | undefined;
  /** The step whose beginning is the state that was restored, for the others. */
  to?: string | undefined;
  changes: readonly TreeChange[];
  /** What has changed meanwhile too, and is not known to be the session's work: it is never taken back with it. */
  foreign?: readonly TreeChange[] | undefined;
  /** For `run`: it was cut off, so what it did is a guess. For the others: such a step alone was taken back. */
  isCutOff?: boolean | undefined;
  /** How long the call took, in milliseconds, where anybody could have changed something meanwhile. */
  callMs?: number | undefined;
  /** The only path, beside directories above it, that a call of a file tool has changed. */
  written?: string | undefined;
  /** More came into being than can be kept. */
  isTooLarge?: boolean | undefined;
  /** True when the permissions of the project's own directory were changed. */
  isRootChanged?: boolean | undefined;
  /** Caches that the call could have changed deep inside, where nobody looks. */
  unseen?: readonly string[] | undefined;
  /** What belongs to git or to us and was edited while the call went on: it stays so. */
  touched?: readonly string[] | undefined;
  /** True for what puts back what `to` has done by halves: what stands is the same before and after both. */
  isRollBack?: boolean | undefined;
  /** True for what was found to have been done by a restoration that was stopped or cut off. */
  isAdopted?: boolean | undefined;
  /** Which directory the project is then; see `root-identity.ts`. */
  rootIdentity?: string | undefined;
}

/** `undo` takes back, `redo` brings back, `jump` leads to another place of the conversation. */
export type Move = "undo" | "redo" | "jump";

/** A turn of the model has begun to change things. */
export interface OpenTurn {
  at: number;
  run: string;
  entryId?: string | undefined;
  /** The only path that the call changes, where it is known. */
  written?: string | undefined;
  /** What has become of the project since the last line of its log, or the base; by whom is not known. */
  changes: readonly TreeChange[];
}

/** Files are being put back. It is written before, so that whoever comes after a crash can complete it. */
export interface Restoring {
  /** That of the step that follows once it is done. */
  id: string;
  to: string;
  /** As steps have it. */
  at: number;
  move: Move;
  isCutOff?: boolean | undefined;
  /** As steps have it. */
  isRollBack?: boolean | undefined;
  /** What is to become of which path. */
  changes: readonly TreeChange[];
  /** The name that a file has while it is written beside the one it replaces. */
  temporaryName: string;
  /** The directories in which that may be; "" is the project itself. */
  directories: readonly string[];
  /** Directories that had to be made writable, with the modes they had. */
  opened: readonly (readonly [path: string, mode: number])[];
  /** Files that are written in place, since they have other names too. */
  inPlace: readonly string[];
}
