import type { TerminalTraits } from "./rewrap.ts";

/**
 * How long a change of the terminal's size is waited out before a frame is drawn for it, in milliseconds. Who drags a
 * window's edge changes the size in many steps. Drawn for one of them while the terminal is at the next, a frame would land
 * in the wrong rows; so it waits until no further step comes for `quietMs`, but no more than `longestMs` from the first on.
 */
export interface Settling {
  readonly quietMs: number;
  readonly longestMs: number;
}

const PROMPT: Settling = { quietMs: 30, longestMs: 500 };
// tmux changes its rows at once, but tells the program no more often than every 250 ms. Whatever is written in between, and
// be it one word of an answer, is for a size that is gone: it is wrapped unexpectedly and lands on lines that are to stay.
const BEHIND_TMUX: Settling = { quietMs: 280, longestMs: 5_000 };

const TMUX = /^84;/;

/** How long to wait in the terminal with these traits; its own answer counts for more than the environment. */
export function detectSettling({ term = "", termProgram, device }: TerminalTraits): Settling {
  const isTmux = device === undefined ? termProgram === "tmux" || /^tmux\b/.test(term) : TMUX.test(device);
  return isTmux ? BEHIND_TMUX : PROMPT;
}
