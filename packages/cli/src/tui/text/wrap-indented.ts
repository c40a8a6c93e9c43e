import { visibleWidth, wrapText } from "../screen/screen-text.ts";

const CONTINUATION_COLUMNS = 2;

/**
 * A line of code or of a program's output as lines of at most `width` columns. Its indentation stays, and what goes on
 * below is indented a little further.
 */
export function wrapIndented(line: string, width: number): string[] {
  if (visibleWidth(line) <= width) return [line];
  const spaces = /^ */.exec(Bun.stripANSI(line))?.[0] ?? "";
  // The first run of that many spaces is the indentation: escape sequences hold none.
  const content = line.replace(spaces, "");
  const indent = Math.min(spaces.length, Math.floor(width / 2));
  const hanging = Math.min(indent + CONTINUATION_COLUMNS, Math.floor(width / 2));
  const [first = "", ...others] = wrapText(content, width - hanging);
  return [" ".repeat(indent) + first, ...others.map((part) => " ".repeat(hanging) + part)];
}
