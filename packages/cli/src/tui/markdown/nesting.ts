// Nobody reads fifty lists within each other, and the time it takes to read them grows with the square of their number.
const MARKERS = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){50}/m;
const INDENTATION = /^(?:[ ]{100}|\t{25})[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/m;

/** True for Markdown with lists or quotes so deep within each other that it is better shown as it is written. */
export function isDeeplyNested(markdown: string): boolean {
  return MARKERS.test(markdown) || INDENTATION.test(markdown);
}
