import { wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";
import { cutTokens, ELLIPSIS, isPrintableAscii, LineStyle, readTokens, visibleWidth } from "./line.ts";

export { TAB_COLUMNS, visibleWidth } from "./line.ts";

/**
 * Text layout for the views. Lines may contain SGR and OSC 8 sequences; outside text has been sanitized
 * before. Widths are Bun's. Wrapping is pi-tui's, because Bun's splits emoji and separates letters from their
 * accents, and forgets colours at the end of a line and the indentation of the first.
 */

/**
 * The line itself if it fits into `width` columns, otherwise its beginning with `…`, styles and links closed.
 */
export function fitLine(line: string, width: number): string {
  if (width < 1) return "";
  if (visibleWidth(line) <= width) return line;
  if (isPrintableAscii(line)) return line.slice(0, width - 1) + ELLIPSIS;
  return cutTokens(readTokens(line), width);
}

/** Like `fitLine`, padded with spaces to `width` columns in the style that the line ends with. */
export function padLine(line: string, width: number): string {
  const fitted = fitLine(line, width);
  return fitted + " ".repeat(Math.max(0, width - visibleWidth(fitted)));
}

/**
 * Breaks text into lines of at most `width` columns, preferably at spaces; longer words are split between
 * characters. Line ends and indentation in the text stay. Every line opens and closes its own styles and
 * links. If `width` is 1, a line with a wide character is too wide.
 */
export function wrapText(text: string, width: number): string[] {
  const columns = Math.max(1, width);
  if (text.length > WORTH_MEASURING && ASCII_LINES.test(text))
    return text.split("\n").flatMap((line) => wrapAsciiLine(line, columns));
  const lines = wrapTextWithAnsi(text, columns);
  return text.includes("\x1b") ? lines.map(closeLine) : lines;
}

// In a shorter text there is nothing to gain.
const WORTH_MEASURING = 400;
const ASCII_LINES = /^[\n -~]*$/;
const WORDS_AND_SPACES = / +|[^ ]+/g;

/**
 * The lines that pi-tui makes of a line of printable ASCII. pi-tui looks at every character for itself, and a streaming
 * paragraph is wrapped again and again: an answer of one line of a megabyte took seconds.
 */
function wrapAsciiLine(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  const lines: string[] = [];
  let current = "";
  for (const [token] of line.matchAll(WORDS_AND_SPACES)) {
    const isBlank = token.startsWith(" ");
    if (token.length > width && !isBlank) {
      if (current !== "") lines.push(current);
      const lastStart = Math.floor((token.length - 1) / width) * width;
      for (let start = 0; start < lastStart; start += width) lines.push(token.slice(start, start + width));
      current = token.slice(lastStart);
    } else if (current !== "" && current.length + token.length > width) {
      lines.push(current);
      current = isBlank ? "" : token;
    } else current += token;
  }
  if (current !== "") lines.push(current);
  return lines.map((each) => each.trimEnd());
}

function closeLine(line: string): string {
  if (!line.includes("\x1b")) return line;
  const style = new LineStyle();
  for (const token of readTokens(line)) if (token.kind === "style") style.apply(token.text);
  return line + style.closing();
}
