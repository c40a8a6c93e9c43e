import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import { ownIdentity, type ProcessIdentity } from "../../infrastructure/process/tree.ts";
import type { Environment } from "../../infrastructure/runtime.ts";

/** `waiting`: for an answer of the user. `idle`: for a prompt. */
export const RUN_STATES = ["working", "waiting", "idle"] as const;

/** One of `RUN_STATES`. */
export type RunState = (typeof RUN_STATES)[number];

/** A session that is open in a process, as other processes see it. */
export interface RunRecord {
  /** Of the session. */
  id: string;
  /** The root of its project, absolute and real. */
  project: string;
  model: string;
  state: RunState;
  /** US dollars since it was opened; null when the price is unknown. */
  cost: number | null;
  /** Milliseconds since the epoch. */
  startedAtMs: number;
  process: ProcessIdentity;
}

/** `runs` in the user's state directory: a file for each open session; undefined without a home directory. */
export function runsDirectory(environment: Environment): string | undefined {
  const state = userStateDirectory(environment);
  return state === undefined ? undefined : join(state, "runs");
}

/** Of this process. One listener removes all of them at its end: a process may have many sessions. */
const openRuns = new Set<OwnRun>();

function removeOpenRuns(): void {
  for (const run of openRuns) run.remove();
}

/** The record of an open session of this process, which is removed with it. */
export class OwnRun {
  private readonly path: string | undefined;
  private record: RunRecord;

  constructor(environment: Environment, record: Omit<RunRecord, "process">) {
    const directory = runsDirectory(environment);
    this.record = { ...record, process: ownIdentity() };
    this.path = directory && join(directory, `${record.id}.${process.pid}.json`);
    if (openRuns.size === 0) process.on("exit", removeOpenRuns);
    openRuns.add(this);
    this.write();
  }

  get cost(): number | null {
    return this.record.cost;
  }

  change(change: Partial<Pick<RunRecord, "model" | "state" | "cost">>): void {
    const changed = { ...this.record, ...change };
    const isSame = JSON.stringify(changed) === JSON.stringify(this.record);
    this.record = changed;
    if (!isSame) this.write();
  }

  remove(): void {
    openRuns.delete(this);
    if (openRuns.size === 0) process.off("exit", removeOpenRuns);
    if (this.path === undefined) return;
    try {
      rmSync(this.path, { force: true });
    } catch {
      // The file system has become read-only: the record counts no longer than this process lives.
    }
  }

  private write(): void {
    const { path } = this;
    if (path === undefined) return;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // Readers see the old or the new record.
      writeFileSync(`${path}.new`, JSON.stringify(this.record), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    } catch {
      // The session works without being listed.
    }
  }
}
