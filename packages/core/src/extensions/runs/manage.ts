import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isProcessAlive } from "../../infrastructure/process/tree.ts";
import { type Environment, monotonicMs, sleep } from "../../infrastructure/runtime.ts";
import { RUN_STATES, type RunRecord, runsDirectory } from "./run-record.ts";

export type { RunRecord };

const RECORD: z.ZodType<RunRecord> = z.looseObject({
  id: z.string(),
  project: z.string(),
  model: z.string(),
  state: z.enum(RUN_STATES),
  cost: z.number().nullable(),
  startedAtMs: z.number(),
  // Zero and negative numbers mean groups of processes.
  process: z.looseObject({ pid: z.int().min(2), startTime: z.string().optional() }),
});

/** The sessions that are open now, in all processes of this user, the oldest first. Removes records of dead processes. */
export function listRuns(environment: Environment): RunRecord[] {
  const directory = runsDirectory(environment);
  if (directory === undefined) return [];
  return listRecords(directory)
    .flatMap((name) => readLiving(join(directory, name)) ?? [])
    .sort((left, right) => left.startedAtMs - right.startedAtMs);
}

function listRecords(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".json"));
  } catch {
    // No session was ever open.
    return [];
  }
}

function readLiving(path: string): RunRecord | undefined {
  try {
    const parsed = RECORD.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (!parsed.success) return undefined;
    if (isProcessAlive(parsed.data.process)) return parsed.data;
    rmSync(path, { force: true });
  } catch {
    // It was removed meanwhile, or is no record.
  }
  return undefined;
}

const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;

/**
 * Asks the process of a session to end, as by SIGTERM: it saves what there is and ends its commands.
 * @returns false if it still runs after five seconds.
 * @throws Error of the system, such as for a process of another user.
 */
export async function stopRun({ process: owner }: RunRecord): Promise<boolean> {
  if (!isProcessAlive(owner)) return true;
  process.kill(owner.pid, "SIGTERM");
  const begin = monotonicMs();
  while (isProcessAlive(owner)) {
    if (monotonicMs() - begin > PATIENCE_MS) return false;
    await sleep(PAUSE_MS);
  }
  return true;
}
