import { createMarkdownAnswer } from "./markdown-answer.ts";

/** What every long answer ends with. */
export const LAST_WORD = "ALL-IS-SAID";

const CHUNKS = 5_000;
const CHUNK_CHARS = 8;
const CHUNK_DELAY_MS = 2;
const TRANSCRIPT_ROWS = 5_000;
// 80 columns wide, what `createMarkdownAnswer` writes takes so many characters a row, blank ones counted.
const CHARS_A_ROW = 36;

/** An answer in 5,000 chunks, 2 ms apart. */
export function streamedTurn(text = createMarkdownAnswer(CHUNKS * CHUNK_CHARS)) {
  const chunkChars = Math.ceil(text.length / CHUNKS);
  return { text: `${text}\n\n${LAST_WORD}`, chunkChars, chunkDelayMs: CHUNK_DELAY_MS };
}

/** An answer of more than 5,000 rows, at once. */
export const LONG_TRANSCRIPT = {
  text: `${createMarkdownAnswer(TRANSCRIPT_ROWS * CHARS_A_ROW)}\n\n${LAST_WORD}`,
  chunkChars: 400,
};
