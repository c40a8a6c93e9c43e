import { monotonicMs, sleep } from "../clock.ts";
import { findProcessTree, hasProcessTable } from "./process-table.ts";

/** How to find a process and what it started: the groups it leads, and a text in the environment of its descendants. */
export interface ProcessTree {
  groups: readonly number[];
  mark: string;
  /** Of the processes, those that end by themselves once the others have: they are killed, never asked to end. */
  keepers?: readonly number[] | undefined;
}

/** A process group, by the process that leads it. */
export interface ProcessGroup {
  leader: number;
  /** True where the leader keeps the others and ends with the last of them; see `ProcessTree.keepers`. */
  isKeeper: boolean;
  /** True once the leader has ended and was waited for; its number is then free as soon as the group is empty. */
  leaderExited: boolean;
}

const TERM_GRACE_MS = 1_000;
const LIMIT_MS = 1_900;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 80;

// A process that forks faster than it is found escapes one round, not several.
const LAST_ROUNDS = 5;
// At the moment at which a process becomes another program nothing tells that it is ours.
const EMPTY_LOOKS = 2;

/**
 * Ends all that `find` finds: TERM, KILL after a second. Resolves with true as soon as nothing is left, or after two
 * seconds with false. Without a process table (see `hasProcessTable`) only the groups themselves are ended.
 */
export async function endTree(find: () => ProcessTree): Promise<boolean> {
  const begin = monotonicMs();
  const tree = find();
  const first = look(tree);
  if (first.targets.length === 0 && first.isCertain) return true;
  let left = first.targets;
  for (const target of left) {
    if (tree.keepers?.includes(target)) continue;
    signalProcess(target, "SIGTERM");
    // A stopped process acts on TERM only once it goes on.
    signalProcess(target, "SIGCONT");
  }
  let emptyLooks = left.length === 0 ? 1 : 0;
  for (let pauseMs = FIRST_PAUSE_MS; emptyLooks < EMPTY_LOOKS; pauseMs = nextPause(pauseMs, emptyLooks)) {
    const elapsedMs = monotonicMs() - begin;
    if (elapsedMs >= LIMIT_MS) return false;
    if (elapsedMs >= TERM_GRACE_MS) for (const target of left) signalProcess(target, "SIGKILL");
    const boundaryMs = elapsedMs < TERM_GRACE_MS ? TERM_GRACE_MS : LIMIT_MS;
    await sleep(Math.min(pauseMs, Math.max(1, boundaryMs - elapsedMs)));
    left = look(find()).targets;
    emptyLooks = left.length === 0 ? emptyLooks + 1 : 0;
  }
  return true;
}

function nextPause(pauseMs: number, emptyLooks: number): number {
  return emptyLooks > 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
}

/** Kills all that `find` finds, without waiting for it to be gone. */
export function endTreeNow(find: () => ProcessTree): void {
  for (let round = 0; round < LAST_ROUNDS; round++) {
    const { targets } = look(find());
    if (targets.length === 0) return;
    for (const target of targets) signalProcess(target, "SIGKILL");
  }
}

/** True while the group has members, zombies included, and its number has not passed to somebody else. */
export function isGroupAlive({ leader, leaderExited }: ProcessGroup): boolean {
  if (!leaderExited) return true;
  // A number is not given away while a group bears it, so a process of that number is a stranger.
  return signalProcess(-leader, 0) && !signalProcess(leader, 0);
}

/** True when something of the tree runs. */
export function isTreeAlive(tree: ProcessTree): boolean {
  return look(tree).targets.length > 0;
}

interface Look {
  /** What to signal: processes, or, as negative numbers, whole groups where single processes cannot be listed. */
  targets: number[];
  /** Nothing of the tree can have escaped it. */
  isCertain: boolean;
}

function look({ groups, mark }: ProcessTree): Look {
  if (!hasProcessTable())
    return {
      targets: groups.map((group) => -group).filter((group) => signalProcess(group, 0)),
      isCertain: true,
    };
  const { processes, isCertain } = findProcessTree(new Set(groups), mark);
  return { targets: processes, isCertain };
}

/** Sends a signal (0 only asks); false when there is no such process or it is not ours to signal. */
function signalProcess(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    // It has ended by itself in the meantime, which is what was wanted.
    return false;
  }
}
