const ESCAPE = "\x1b";
const STRING_END = `(?:\\x07|${ESCAPE}\\\\)`;

const HIDDEN = "\\p{Cc}\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2028\\u2029\\u2066-\\u2069\\ufeff";

/** Modes that are turned on and off, and modes that are only turned off in case somebody left them on. */
const MODES = [7, 25, 1004, 2004, 2026];
const MODES_ENDED = [1000, 1002, 1003, 1006, 2031];

/** Everything that the interactive program may send to a terminal besides text. */
const ALLOWED: readonly string[] = [
  // Styles with the terminal's own colours, and our links; the title of the window, and notifications.
  `${ESCAPE}\\[(?:\\d{1,3}(?:;\\d{1,3}){0,4})?m`,
  `${ESCAPE}\\]8;;(?:https?://[!-~]*)?${STRING_END}`,
  `${ESCAPE}\\](?:[02]|9|99|777);[^${HIDDEN}]{0,200}${STRING_END}`,
  `${ESCAPE}\\[2[23];[02]t`,
  // The cursor: up, to a column. Rows: insert, remove, erase the end of a row or everything below the cursor.
  `${ESCAPE}\\[\\d{0,3}[ALM]`,
  `${ESCAPE}\\[\\d{1,3}G`,
  `${ESCAPE}\\[[KJ]`,
  `${ESCAPE}\\[\\?(?:${MODES.join("|")})[hl]`,
  ...MODES_ENDED.map((mode) => `${ESCAPE}\\[\\?${mode}l`),
  // Keyboard protocols on and off; queries for the terminal's type and the cursor position; the end of a
  // string.
  `${ESCAPE}\\[>7u`,
  `${ESCAPE}\\[<u`,
  `${ESCAPE}\\[\\?u`,
  `${ESCAPE}\\[>4;[02]m`,
  `${ESCAPE}\\[>?c`,
  `${ESCAPE}\\[6n`,
  `${ESCAPE}\\\\`,
  "[\\r\\n]",
];

const OURS = new RegExp(ALLOWED.join("|"), "gu");
const FOREIGN = new RegExp(`[${HIDDEN}][\\s\\S]{0,30}`, "gu");

/**
 * The parts of a program's output that are neither text nor our own sequences, each with what follows it; and
 * frames whose beginnings and ends do not alternate.
 */
export function findForeignBytes(bytes: string): string[] {
  const text = bytes.replace(OURS, "");
  return [
    ...Array.from(text.matchAll(FOREIGN), ([found]) => JSON.stringify(found)),
    ...findOpenFrames(bytes),
  ];
}

/** Reported for a last frame without an end. */
export const OPEN_FRAME = "a frame without an end";

const FRAME_MARK = new RegExp(`${ESCAPE}\\[\\?2026([hl])`, "g");

/** True if the output ends within a frame. */
export function hasOpenFrame(bytes: string): boolean {
  const marks = [...bytes.matchAll(FRAME_MARK)];
  return marks.at(-1)?.[1] === "h";
}

function findOpenFrames(bytes: string): string[] {
  const problems: string[] = [];
  let isOpen = false;
  for (const { 1: mode, index } of bytes.matchAll(FRAME_MARK)) {
    if (mode === "h" && isOpen) problems.push(`a frame within a frame at ${index}`);
    isOpen = mode === "h";
  }
  return isOpen ? [...problems, OPEN_FRAME] : problems;
}
