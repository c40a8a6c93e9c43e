import { splitLineParts } from "./canonical-text.ts";
import type { Reindent } from "./indentation.ts";
import { alignLines } from "./line-alignment.ts";
import type { LineEnd, TextLine } from "./line-ends.ts";

/** An edit whose old text is in the file but for white space and typography. */
export interface LineSplice {
  /** What stands in the file: as many lines as `oldLines`, alike but for white space and typography. */
  fragments: readonly TextLine[];
  oldLines: readonly string[];
  newLines: readonly string[];
  reindent: Reindent;
  /** For lines that have no neighbour to take their end from. */
  fallbackEnd: LineEnd;
}

/**
 * The text that takes the place of the fragments, without the end of its last line, which is not part of the change.
 * Lines that stay the same stay as the file has them, changed ones keep their end, added ones take that of the line
 * above. Undefined when a line could be indented only by guessing.
 */
export function spliceLines({
  fragments,
  oldLines,
  newLines,
  reindent,
  fallbackEnd,
}: LineSplice): string | undefined {
  const result: { text: string; end: LineEnd | "" }[] = [];
  for (const { oldIndex, newIndex } of alignLines(oldLines, newLines)) {
    if (newIndex === undefined) continue;
    const newLine = newLines[newIndex] ?? "";
    const fragment = oldIndex === undefined ? undefined : fragments[oldIndex];
    const text = fragment
      ? mergeLine({ inFile: fragment.text, given: oldLines[oldIndex ?? 0] ?? "", wanted: newLine }, reindent)
      : indentLine(newLine, reindent);
    if (text === undefined) return undefined;
    const end = fragment?.end || result.at(-1)?.end || fragments[0]?.end || fallbackEnd;
    result.push({ text, end });
  }
  return result.map(({ text, end }, index) => (index === result.length - 1 ? text : text + end)).join("");
}

function indentLine(line: string, reindent: Reindent): string | undefined {
  const { indent, body, tail } = splitLineParts(line);
  if (body === "") return line;
  const adapted = reindent(indent);
  return adapted === undefined ? undefined : adapted + body + tail;
}

interface LineChange {
  inFile: string;
  given: string;
  wanted: string;
}

/** Where the wanted line equals the given one, the file's own characters stay: its indentation, quotes, trailing space. */
function mergeLine({ inFile, given, wanted }: LineChange, reindent: Reindent): string | undefined {
  if (given === wanted) return inFile;
  const [file, old, next] = [splitLineParts(inFile), splitLineParts(given), splitLineParts(wanted)];
  if (next.body === "") return wanted;
  const indent = next.indent === old.indent && old.body !== "" ? file.indent : reindent(next.indent);
  if (indent === undefined) return undefined;
  return (
    indent + mergeBody(file.body, old.body, next.body) + (next.tail === old.tail ? file.tail : next.tail)
  );
}

function mergeBody(file: string, old: string, next: string): string {
  if (file === old || file.length !== old.length) return next;
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && old[start] === next[start]) start++;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  return file.slice(0, start) + next.slice(start, next.length - end) + file.slice(file.length - end);
}
