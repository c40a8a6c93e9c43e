import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { now } from "../runtime.ts";
import { systemErrorText } from "../system-error.ts";
import { pauseUnnoticed } from "./process.ts";
import type { CommandRest } from "./run.ts";
import { endTree, isGroupAlive, type ProcessGroup, readTreeCpuMs } from "./tree.ts";

const KEPT_FOR_MS = 30 * 24 * 60 * 60 * 1000;

interface DetachedCommand {
  /** The program as an absolute path, and its arguments. */
  argv: readonly string[];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  /** Where its output goes, in a new file (0600); older files of 30 days and more are removed from there. */
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
  const file = openLog(path, directory);
  try {
    const child = Bun.spawn([...argv], {
      cwd,
      env: { ...environment },
      stdio: ["ignore", file, file],
      detached: true,
    });
    child.unref();
    return { rest: toRest(child), path };
  } catch (error) {
    throw new Error(`${argv[0]} could not be started: ${systemErrorText(error)}.`);
  } finally {
    closeSync(file);
  }
}

function openLog(path: string, directory: string): number {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    removeOld(directory);
    return openSync(path, "wx", 0o600);
  } catch (error) {
    throw new Error(`Not started: its output cannot be written to ${path}: ${systemErrorText(error)}.`);
  }
}

function toRest(child: Bun.Subprocess): CommandRest {
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
    }),
    end: () => endTree(tree),
    cpuTimeMs: () => readTreeCpuMs(tree()),
    release: () => {},
  };
}

function removeOld(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (name.endsWith(".log") && stats && now() - stats.mtimeMs > KEPT_FOR_MS) rmSync(path, { force: true });
  }
}
