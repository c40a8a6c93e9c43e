import { readFileSync } from "node:fs";

// Left behind, it is to be gone after two seconds; and all timers of an idle screen together come less than once a second.
const LOOK_MS = 1_800;
const STDOUT = 1;

/** What this process works with. */
export interface ParentWatchOptions {
  /** Its input is a terminal: what a shell without job control puts into the background has none. */
  hasKeyboard: boolean;
}

/**
 * Calls back, once, when whoever started this process has died and nobody is left for whom it works: its terminal belongs
 * to somebody else from then on, or its output has no reader. No signal tells of that, unless the terminal goes too. What
 * was put into the background, or writes to a file, works on. Where there is no `/proc`, nothing is noticed.
 */
export function watchParent({ hasKeyboard }: ParentWatchOptions, onLeftBehind: () => void): void {
  const parent = process.ppid;
  let hadTerminal = hasKeyboard && isInForeground();
  const timer = setInterval(async () => {
    if (process.ppid === parent) hadTerminal = hasKeyboard && isInForeground();
    else if (hadTerminal || (await hasLostOutput())) {
      clearInterval(timer);
      onLeftBehind();
    }
  }, LOOK_MS);
  timer.unref();
}

/** True if the keys of a terminal are typed for this process, and for those that were started with it. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // The name, in parentheses, may hold anything.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    // No such file on other systems.
    return false;
  }
}

/** Loaded behind the parent's end: hardly any run gets there. */
async function hasLostOutput(): Promise<boolean> {
  const { hasLostReader } = await import("@diligent/core/run");
  return await hasLostReader(STDOUT);
}
