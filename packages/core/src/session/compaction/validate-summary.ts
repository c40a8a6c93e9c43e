const MIN_CHARACTERS = 200;
// Above this a summary is long, yet nothing is wrong with it.
const LONG_CHARACTERS = 8_000;
// Twice what 4,096 tokens of ordinary text have: a server that ignores the limit for the answer goes on and on.
const MAX_CHARACTERS = 32_768;

/** As the compaction plan tells the sections, in any case and at any level of heading. */
const SECTIONS = [
  { name: "Goal", heading: /##\s*goals?\b/i },
  { name: "Progress", heading: /##\s*progress\b/i },
  { name: "Critical Context", heading: /##\s*critical\s*context\b/i },
] as const;
const MIN_SECTIONS = 2;

/** What has to stand in one that was cut off; only Critical Context, the last section, may be missing. */
const HEADINGS_BEFORE_A_CUT = [
  /^[ \t]*##+[ \t]*goals?\b/im,
  /^[ \t]*##+[ \t]*progress\b/im,
  /^[ \t]*##+[ \t]*key\s*decisions?\b/im,
  /^[ \t]*##+[ \t]*next\s*steps?\b[^\n]*\n\s*[^\s#]/im,
];

/** A long one is valid all the same. */
export type SummaryVerdict =
  | { isValid: true; isLong: boolean }
  /** `problem` is a sentence without its full stop, for the model as well as for the user. */
  | { isValid: false; problem: string };

/** Whether a summary has the form of one: its length, and at least two of its three main sections. */
export function validateSummary(
  summary: string,
  { maxCharacters = MAX_CHARACTERS }: { maxCharacters?: number } = {},
): SummaryVerdict {
  const { length } = summary.trim();
  if (length === 0) return { isValid: false, problem: "the summary was empty" };
  if (length < MIN_CHARACTERS) {
    return { isValid: false, problem: `the summary had only ${length} characters` };
  }
  if (length > maxCharacters) {
    return { isValid: false, problem: `the summary had ${length} characters, more than ${maxCharacters}` };
  }
  const missing = SECTIONS.filter(({ heading }) => !heading.test(summary)).map(({ name }) => `"## ${name}"`);
  if (SECTIONS.length - missing.length < MIN_SECTIONS) {
    return { isValid: false, problem: `the summary lacked the sections ${missing.join(", ")}` };
  }
  return { isValid: true, isLong: length > LONG_CHARACTERS };
}

/** Whether a summary that was cut off is worth more than none: it has everything up to the beginning of its next steps. */
export function isUsableWhenCut(summary: string, options: { maxCharacters?: number } = {}): boolean {
  return (
    validateSummary(summary, options).isValid &&
    HEADINGS_BEFORE_A_CUT.every((heading) => heading.test(summary))
  );
}
