/** Empty until a process is started, so that a program without children does not load the code that ends them. */
const endings: (() => Promise<unknown>)[] = [];

/** Call it before the first process is started: `end` ends all processes. */
export function registerEnding(end: () => Promise<unknown>): void {
  endings.push(end);
}

/**
 * Ends all processes that were started and still run, including background children: TERM, then KILL after a second.
 * Call it before the program exits; takes two seconds at most.
 */
export async function endAllProcesses(): Promise<void> {
  await Promise.all(endings.map((end) => end()));
}
