import { HEADINGS, WORDINGS } from "./fallback-wordings.ts";

const FIXED_LINES: ReadonlySet<string> = new Set([
  "",
  ...Object.values(HEADINGS),
  ...Object.values(WORDINGS),
]);
const STALE_LINE = /^- The last call failed: .*, see below$/;
const FACT =
  /^- (?:The user asked(?: first| last)?: |\[x\] (?:Tool calls|Modified): |\[ \] The agent said: )/;
const ERROR = /^- Error of .*:$/;
const FENCE = /^`{3,}$/;

/** A summary made by program, taken apart, so that another one does not quote it whole. */
export interface EarlierFacts {
  /** What summaries by program tell, oldest first and each once; an error with its text in a fence. */
  facts: string[];
  /** Some of them were left out before. */
  isIncomplete: boolean;
  /** What is behind those: a summary that was not made by program, word for word. Empty when there is none. */
  summary: string;
}

/**
 * Takes a summary that was made by program apart, and those inside it. One that holds anything a program did not write
 * is left whole, so nothing is lost.
 */
export function readEarlierFacts(summary: string): EarlierFacts {
  let facts: string[] = [];
  let rest = summary.trim();
  let isIncomplete = false;
  for (let layer = readLayer(rest); layer !== undefined; layer = readLayer(rest)) {
    facts = [...layer.facts, ...facts];
    rest = layer.summary;
    isIncomplete ||= layer.isIncomplete;
  }
  return { facts: [...new Set(facts)], isIncomplete, summary: rest };
}

/** The facts of the outermost summary; undefined when it was not made by program. */
function readLayer(text: string): EarlierFacts | undefined {
  const lines = text.split("\n");
  const own: string[] = [];
  const earlier: string[] = [];
  let facts = own;
  let isByProgram = false;
  let index = 0;
  for (; index < lines.length && lines[index] !== HEADINGS.earlierSummary; index++) {
    const line = lines[index] ?? "";
    if (line === HEADINGS.earlierSteps) facts = earlier;
    isByProgram ||= line === WORDINGS.madeBy;
    if (FACT.test(line)) facts.push(line);
    else if (ERROR.test(line)) {
      const end = findFenceEnd(lines, index + 1);
      if (end === undefined) return undefined;
      facts.push(lines.slice(index, end + 1).join("\n"));
      index = end;
    } else if (!FIXED_LINES.has(line) && !STALE_LINE.test(line)) return undefined;
  }
  if (!isByProgram) return undefined;
  const isIncomplete = lines.slice(0, index).includes(WORDINGS.olderLeftOut);
  return {
    facts: [...earlier, ...own],
    isIncomplete,
    summary: lines
      .slice(index + 1)
      .join("\n")
      .trim(),
  };
}

function findFenceEnd(lines: readonly string[], start: number): number | undefined {
  const fence = lines[start];
  if (fence === undefined || !FENCE.test(fence)) return undefined;
  const end = lines.indexOf(fence, start + 1);
  return end < 0 ? undefined : end;
}

/** The newest facts that have room in `maxCharacters`, in their order; nothing where there are none. */
export function formatEarlierFacts(
  { facts, isIncomplete }: Omit<EarlierFacts, "summary">,
  maxCharacters: number,
): string {
  if (facts.length === 0 && !isIncomplete) return "";
  const kept: string[] = [];
  let room = maxCharacters - HEADINGS.earlierSteps.length - WORDINGS.olderLeftOut.length - 2;
  for (const fact of facts.toReversed()) {
    room -= fact.length + 1;
    if (room < 0) break;
    kept.unshift(fact);
  }
  const note = isIncomplete || kept.length < facts.length ? [WORDINGS.olderLeftOut] : [];
  return [HEADINGS.earlierSteps, ...note, ...kept].join("\n");
}
