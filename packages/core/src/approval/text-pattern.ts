/**
 * True when `pattern` matches the whole of `text`: `*` is any number of any characters, spaces and slashes included,
 * `?` is one, everything else is itself. Takes time in proportion to both lengths at worst, whatever the pattern.
 */
export function matchesText(pattern: string, text: string): boolean {
  let inText = 0;
  let inPattern = 0;
  let star = -1;
  let retryAt = 0;
  while (inText < text.length) {
    const wanted = pattern[inPattern];
    if (wanted === "*") {
      star = inPattern++;
      retryAt = inText;
    } else if (wanted !== undefined && isOne(wanted, text[inText])) {
      inPattern += 1;
      inText += 1;
    } else if (star >= 0) {
      // The last star takes one character more; an earlier one never has to.
      inPattern = star + 1;
      inText = ++retryAt;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

/** Stands in a text for what only a star may match, such as what a shell puts in the place of `*.ts`. */
export const UNKNOWN_TEXT = "\0";

function isOne(wanted: string, found: string | undefined): boolean {
  return wanted === "?" ? found !== UNKNOWN_TEXT : wanted === found;
}
