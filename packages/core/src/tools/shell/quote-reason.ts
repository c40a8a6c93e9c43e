// A few rows of a terminal: what a model says for itself is no part of what would be done.
const MAX_SHOWN_CHARS = 500;

/**
 * What a model gives as its reason, so that it can pass for nothing but the model's own words wherever it is shown or
 * logged: in quotation marks that it cannot close itself, on one line, invisible characters as escapes such as
 * `\u{202e}`, of a longer one the beginning and how much more there is. Undefined where it says nothing.
 */
export function quoteReason(reason: string | undefined): string | undefined {
  // Never more than could be shown is looked at: there may be megabytes.
  const head = (reason ?? "").slice(0, MAX_SHOWN_CHARS * 4).trimStart();
  let shown = "";
  let taken = 0;
  for (const { 0: text } of head.matchAll(PIECES)) {
    const piece = toShown(text);
    if (shown.length + piece.length > MAX_SHOWN_CHARS) break;
    shown += piece;
    taken += text.length;
  }
  if (shown.trim() === "") return undefined;
  const left = (reason ?? "").trim().length - taken;
  return left > 0 ? `“${shown}…” (${left} more characters)` : `“${shown.trimEnd()}”`;
}

/** A run of blanks and line ends, or a character. */
const PIECES = /\s+|\S/gu;

/** What begins or ends a quotation somewhere, or looks as if it did. */
const QUOTES = /["\u00ab\u00bb\u02ba\u02dd\u02ee\u201c-\u201f\u2033\u2036\u275d\u275e\u301d-\u301f\uff02]/u;

/** What is not seen, moves what is seen, or begins a control sequence; spaces that are none of the keyboard's too. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;

function toShown(piece: string): string {
  if (/^\s+$/u.test(piece)) return " ";
  if (QUOTES.test(piece)) return "'";
  return UNSEEN.test(piece) ? `\\u{${piece.codePointAt(0)?.toString(16)}}` : piece;
}
