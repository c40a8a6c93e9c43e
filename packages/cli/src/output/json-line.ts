/**
 * A value as one line of JSON with its line feed. Control characters, and the two separators that some readers take
 * for line ends, are escaped, so that the line is safe to show and to split; its value stays what it was.
 */
export function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(ESCAPED, escapeUnit)}\n`;
}

/** The same as a document of several lines, for people and programs alike. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(ESCAPED, escapeUnit)}\n`;
}

const ESCAPED = /[\u007f-\u009f\u2028\u2029]/g;

function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
