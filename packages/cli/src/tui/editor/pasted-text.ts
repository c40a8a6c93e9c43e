import { cleanPaste } from "./clean-text.ts";
import { type HeldTexts, type Holding, holdPaste, holdText } from "./held-text.ts";

// Above either, a paste would push what was written by hand out of sight.
const MAX_SHOWN_LINES = 10;
const MAX_SHOWN_CHARS = 1_000;

/**
 * What a paste adds to the editor's text: itself, or where it is long `[pasted 120 lines]` in its place.
 *
 * @param data what the terminal sent, without the marks around it.
 * @param shown the editor's text so far.
 */
export function takePaste(held: HeldTexts, data: string, shown: string): Holding {
  const content = cleanPaste(data);
  const lines = countLines(content);
  if (lines > MAX_SHOWN_LINES) return holdPaste(held, content, { label: `pasted ${lines} lines`, shown });
  if (content.length <= MAX_SHOWN_CHARS) return holdText(held, content);
  return holdPaste(held, content, { label: `pasted ${content.length} characters`, shown });
}

/** A line end at the very end begins no further line. */
function countLines(text: string): number {
  const lines = text.split("\n").length;
  return text.endsWith("\n") ? lines - 1 : lines;
}
