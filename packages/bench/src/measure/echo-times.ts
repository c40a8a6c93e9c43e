import type { TerminalRun } from "./terminal-run.ts";

// Letters that nothing else on the screen holds, so that each is its own echo; all are one column wide.
const FIRST_LETTER = 0x100;
const LETTERS = 0x150;
// The prompt is emptied before it takes a second row.
const KEYS_A_LINE = 40;
const EMPTY_LINE = "\x15";

/** How fast and how long keys are typed. */
export interface Typing {
  /** Between the echo of a key and the next key. */
  intervalMs: number;
  /** Goes on until then. */
  until: (typed: number) => boolean;
}

/** Types keys one by one, each after the echo of the one before, and returns how long each took to be seen, in ms. */
export async function measureEchoes(run: TerminalRun, { intervalMs, until }: Typing): Promise<number[]> {
  const times: number[] = [];
  while (!until(times.length)) {
    times.push(await measureEcho(run, letterAt(times.length)));
    if (times.length % KEYS_A_LINE === 0) run.type(EMPTY_LINE);
    await Bun.sleep(intervalMs);
  }
  run.type(EMPTY_LINE);
  return times;
}

/** How long one key takes to be seen, in ms. It must not stand on the screen already. */
export async function measureEcho(run: TerminalRun, key: string): Promise<number> {
  const echoed = run.nextOutput(key);
  const typedAt = performance.now();
  run.type(key);
  return (await echoed) - typedAt;
}

function letterAt(index: number): string {
  return String.fromCodePoint(FIRST_LETTER + (index % LETTERS));
}
