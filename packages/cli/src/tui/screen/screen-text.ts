import { wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";
import { cutTokens, ELLIPSIS, isPrintableAscii, LineStyle, readTokens, visibleWidth } from "./line.ts";

export { TAB_COLUMNS, visibleWidth } from "./line.ts";

/**
 * What the views do with text and columns. Lines may hold SGR and OSC 8 sequences; text from outside has been sanitised
 * before it gets here. Widths are Bun's. Wrapping is pi-tui's, because Bun's own divides emoji and letters from their
 * accents, forgets colours at the end of a line and the indentation of the first.
 */

/** The line itself where it fits into `width` columns, else its beginning with `…`, styles and links closed. */
export function fitLine(line: string, width: number): string {
  if (width < 1) return "";
  if (visibleWidth(line) <= width) return line;
  if (isPrintableAscii(line)) return line.slice(0, width - 1) + ELLIPSIS;
  return cutTokens(readTokens(line), width);
}

/** As `fitLine`, and filled up with spaces to `width` columns, in the style that the line ends with. */
export function padLine(line: string, width: number): string {
  const fitted = fitLine(line, width);
  return fitted + " ".repeat(Math.max(0, width - visibleWidth(fitted)));
}

/**
 * Breaks text into lines of at most `width` columns, at spaces where it can; what is longer is divided between characters.
 * Line ends in the text stay, indentation too. Every line carries its own styles and links and ends them. Where `width` is
 * 1, a wide character is a line that is too wide.
 */
export function wrapText(text: string, width: number): string[] {
  const lines = wrapTextWithAnsi(text, Math.max(1, width));
  return text.includes("\x1b") ? lines.map(closeLine) : lines;
}

function closeLine(line: string): string {
  if (!line.includes("\x1b")) return line;
  const style = new LineStyle();
  for (const token of readTokens(line)) if (token.kind === "style") style.apply(token.text);
  return line + style.closing();
}
