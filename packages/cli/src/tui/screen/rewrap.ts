/**
 * What a terminal does with the rows on its screen when its width changes.
 * - `rewraps`: lines are wrapped anew, and the cursor stays with its character: tmux, VTE, kitty, iTerm2 and most others.
 * - `rewraps_around_cursor`: lines are wrapped anew but for the one the cursor is taken to be on, which is cut off; the
 *   cursor may end below its character: xterm.js, on which VS Code's terminal is built.
 * - `keeps_rows`: every row stays a row, cut off: xterm, GNU screen, mosh, the Linux console.
 */
export type Rewrap = "rewraps" | "rewraps_around_cursor" | "keeps_rows";

/** What a terminal says about itself when it is asked by `CSI > c`. */
export const DEVICE_QUERY = "\x1b[>c";
const DEVICE_REPLY = /^\p{Cc}\[>(?<device>[\d;]*)c$/u;

const XTERM_JS = "0;276;0";
// xterm, GNU screen, mosh.
const KEEPS_ROWS = /^(41;\d+;\d+|83;\d+;\d+|1;10;0)$/;

/** The numbers in a reply to `DEVICE_QUERY`; undefined where the input is none. */
export function readDevice(input: string): string | undefined {
  return DEVICE_REPLY.exec(input)?.groups?.device;
}

/** What a terminal is known by: the environment it sets, and what it answers. */
export interface TerminalTraits {
  /** `TERM` and `TERM_PROGRAM` of the environment. */
  term: string | undefined;
  termProgram: string | undefined;
  /** The numbers in the reply to `DEVICE_QUERY`, once there is one. */
  device: string | undefined;
  /** It has answered another query, so that it would have answered this one. */
  hasAnswered: boolean;
}

/**
 * How a terminal behaves, as far as its traits tell. What says nothing at all about itself is no terminal somebody sits at,
 * but one in a program, and those are mostly made with xterm.js.
 */
export function detectRewrap({ term = "", termProgram, device, hasAnswered }: TerminalTraits): Rewrap {
  if (device !== undefined && device !== XTERM_JS) return KEEPS_ROWS.test(device) ? "keeps_rows" : "rewraps";
  if (device === XTERM_JS || termProgram === "vscode") return "rewraps_around_cursor";
  if (/^(linux|screen|st)\b/.test(term)) return "keeps_rows";
  return hasAnswered ? "rewraps" : "rewraps_around_cursor";
}
