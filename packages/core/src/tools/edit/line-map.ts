import { splitLines, type TextLine } from "./line-ends.ts";

/** A stretch of a text in which every line end is LF. `end` is exclusive. */
export interface Place {
  start: number;
  end: number;
}

/** Where the lines of a file begin, in the file's text and in the same text with LF ends. */
export interface LineMap {
  /** The last one has no end; it is empty when the text ends with a line end. */
  lines: readonly TextLine[];
  starts: readonly number[];
  startsInFile: readonly number[];
}

/** `text` is that of the file, with its own line ends. */
export function createLineMap(text: string): LineMap {
  const lines = splitLines(text);
  if (lines.at(-1)?.end !== "") lines.push({ text: "", end: "" });
  const starts: number[] = [];
  const startsInFile: number[] = [];
  let [start, startInFile] = [0, 0];
  for (const line of lines) {
    starts.push(start);
    startsInFile.push(startInFile);
    start += line.text.length + 1;
    startInFile += line.text.length + line.end.length;
  }
  return { lines, starts, startsInFile };
}

/** A place in the file's own text: half-open, in UTF-16 units. */
export interface MappedPlace {
  /** What of each line lies in the place; the end is that of the whole line, also of the last. */
  fragments: TextLine[];
  startInFile: number;
  endInFile: number;
}

/** Finds in the file what was found in the same text with LF ends; `place` has to lie within that. */
export function mapPlace({ lines, starts, startsInFile }: LineMap, { start, end }: Place): MappedPlace {
  const first = lineIndexAt(starts, start);
  const last = lineIndexAt(starts, end);
  const startColumn = start - (starts[first] ?? 0);
  const endColumn = end - (starts[last] ?? 0);
  const fragments = lines.slice(first, last + 1).map((line, index) => ({
    text: line.text.slice(index === 0 ? startColumn : 0, first + index === last ? endColumn : undefined),
    end: line.end,
  }));
  return {
    fragments,
    startInFile: (startsInFile[first] ?? 0) + startColumn,
    endInFile: (startsInFile[last] ?? 0) + endColumn,
  };
}

/** The index of the line in which `position` lies; `starts` rises. */
function lineIndexAt(starts: readonly number[], position: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}
