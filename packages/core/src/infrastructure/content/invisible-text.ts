/**
 * Shown by nothing, yet read by a model: controls, reordering marks, tags, fillers, selectors. Not all of \p{Cf}, which
 * has Arabic signs in it that are seen.
 */
const INVISIBLE = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]/u;

const RUNS = new RegExp(`(?:(?![\\t\\n\\r])${INVISIBLE.source})+`, "gu");

/** What emoji and many scripts are written with: a variation selector, a joiner, or one after the other. */
const JOINING = /^(?:[\ufe0e\ufe0f]|\ufe0f?[\u200c\u200d])$/;

/** A character that such a mark can belong to: not ASCII, but for the digits and signs that emoji are made of. */
const JOINABLE_BEFORE = /[^\p{ASCII}]$|[0-9#*]$/u;

/** A text behind `removeInvisible`. */
export interface VisibleText {
  text: string;
  /** How many characters were taken out. */
  removed: number;
}

/**
 * Takes out what no reader sees and a model does: zero-width and control characters, direction marks, the Unicode tags.
 * The joiners and selectors of emoji and of scripts such as Persian or Hindi stay where they join something.
 */
export function removeInvisible(text: string): VisibleText {
  let removed = 0;
  const visible = text.replace(RUNS, (run, offset: number) => {
    if (JOINING.test(run) && joins(text, offset, offset + run.length)) return run;
    removed += Array.from(run).length;
    return "";
  });
  return { text: visible, removed };
}

function joins(text: string, start: number, end: number): boolean {
  if (!JOINABLE_BEFORE.test(text.slice(Math.max(0, start - 2), start))) return false;
  // A selector ends a character, a joiner needs another one after it.
  const isSelector = end - start === 1 && /[\ufe0e\ufe0f]/.test(text.charAt(start));
  return isSelector || /^[^\p{ASCII}]/u.test(text.slice(end, end + 2));
}

/** A name or path on one line, with everything that cannot be seen in it written out as `\u{…}`. */
export function revealInvisible(name: string): string {
  return name.replace(new RegExp(INVISIBLE.source, "gu"), (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
