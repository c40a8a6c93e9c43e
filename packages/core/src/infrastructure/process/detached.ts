import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { now } from "../runtime.ts";
import { systemErrorText } from "../system-error.ts";
import { openDetachedLog } from "./detached-log.ts";
import { pauseUnnoticed } from "./process.ts";
import type { CommandRest } from "./run.ts";
import { endTree, isGroupAlive, type ProcessGroup, readTreeCpuMs } from "./tree.ts";

const KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;

interface DetachedCommand {
  /** The program as an absolute path, and its arguments. */
  argv: readonly string[];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  /** Where its output goes, in new files (0600) of 100 MB at most; older files of 30 days and more are removed from there. */
  directory: string;
  /** The beginning of that file's name. */
  name: string;
}

/**
 * Starts a program that outlives this one: nothing here ends it, but the returned `end`. What it leaves outside its
 * process group is not found. @throws Error, for the model, when it cannot be started.
 */
export function startDetached({ argv, cwd, environment, directory, name }: DetachedCommand): {
  rest: CommandRest;
  path: string;
} {
  const path = join(directory, `${name}-${crypto.randomUUID().slice(0, 8)}.log`);
  const { input, written } = openLog(path, directory);
  try {
    const child = Bun.spawn([...argv], {
      cwd,
      env: { ...environment },
      stdio: ["ignore", input, input],
      detached: true,
    });
    child.unref();
    return { rest: toRest(child, written), path };
  } catch (error) {
    throw new Error(`${argv[0]} could not be started: ${systemErrorText(error)}.`);
  } finally {
    closeSync(input);
  }
}

function openLog(path: string, directory: string): ReturnType<typeof openDetachedLog> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    removeOld(directory);
    closeSync(openSync(path, "wx", 0o600));
    return openDetachedLog(path);
  } catch (error) {
    throw new Error(`Not started: its output cannot be written to ${path}: ${systemErrorText(error)}.`);
  }
}

// A process outside the group may hold the output open for any time.
const LAST_OUTPUT_MS = 500;

function toRest(child: Bun.Subprocess, written: Promise<unknown>): CommandRest {
  const group: ProcessGroup = { leader: child.pid, role: "worker", leaderExited: false };
  // It has no mark: by one, the end of this program would find it.
  const tree = () => ({ groups: isGroupAlive(group) ? [group.leader] : [] });
  const exited = child.exited.then(() => {
    group.leaderExited = true;
    return { exitCode: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode) };
  });
  return {
    exited,
    ended: exited.then(async () => {
      while (isGroupAlive(group)) await pauseUnnoticed();
      await Promise.race([written, pauseUnnoticed(LAST_OUTPUT_MS)]);
    }),
    end: () => endTree(tree),
    cpuTimeMs: () => readTreeCpuMs(tree()),
    release: () => {},
  };
}

/** An output may be in several files, of which only the newest is written to. */
function removeOld(directory: string): void {
  const writtenAt = new Map<string, number>();
  const files = readdirSync(directory).flatMap((name) => {
    const [, log] = /^(.*\.log)(?:\.\w+)?$/.exec(name) ?? [];
    const stats = statSync(join(directory, name), { throwIfNoEntry: false });
    if (log === undefined || stats === undefined) return [];
    writtenAt.set(log, Math.max(stats.mtimeMs, writtenAt.get(log) ?? 0));
    return [{ name, log }];
  });
  for (const { name, log } of files) {
    if (now() - (writtenAt.get(log) ?? 0) > KEPT_FOR_MS) rmSync(join(directory, name), { force: true });
  }
}
