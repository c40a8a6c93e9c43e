/** Empty until something is started, so that ending nothing takes none of what ends processes. */
const endings: (() => Promise<unknown>)[] = [];

/** To be called before the first process is started: `end` ends all that there are then. */
export function registerEnding(end: () => Promise<unknown>): void {
  endings.push(end);
}

/**
 * Ends everything that was started and still runs, background children included: TERM, and KILL after a second. To be
 * called before the program exits; takes two seconds at most.
 */
export async function endAllProcesses(): Promise<void> {
  await Promise.all(endings.map((end) => end()));
}
