/** Both limits hold for every tool's output, whatever the tool cuts itself. */
export const MAX_OUTPUT_LINES = 2_000;
/** In UTF-8. 50 KB is about 13k tokens: above that, two results crowd the task out of a small window. */
export const MAX_OUTPUT_BYTES = 50 * 1024;

/** `text` is without the note about what was left out; see `truncationNote`. */
export interface TruncatedOutput {
  text: string;
  /** What was left out, for the note that follows; undefined when nothing was. */
  omitted?: { shownLines: number; totalLines: number; totalBytes: number };
}

/** Cuts an output to `MAX_OUTPUT_LINES` or `MAX_OUTPUT_BYTES`, whichever comes first, never inside a character. */
export function truncateOutput(output: string, keep: "head" | "tail" = "head"): TruncatedOutput {
  const totalBytes = Buffer.byteLength(output);
  const totalLines = countLines(output);
  if (totalBytes <= MAX_OUTPUT_BYTES && totalLines <= MAX_OUTPUT_LINES) return { text: output };
  const text = keepBytes(keepLines(output, keep), keep);
  return { text, omitted: { shownLines: countLines(text), totalLines, totalBytes } };
}

/** The line that tells the model what it does not see and where the rest is. */
export function truncationNote(
  { shownLines, totalLines, totalBytes }: NonNullable<TruncatedOutput["omitted"]>,
  keep: "head" | "tail",
  path: string | undefined,
): string {
  const which = keep === "head" ? "first" : "last";
  const shown =
    totalLines > shownLines ? `${which} ${shownLines} of ${totalLines} lines` : `the ${which} part`;
  const where = path === undefined ? "" : ` Whole output: ${path}`;
  return `[Output cut: ${shown} shown, ${Math.ceil(totalBytes / 1024)} KB in all.${where}]`;
}

function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

function keepLines(text: string, keep: "head" | "tail"): string {
  const lines = text.split("\n");
  if (lines.length <= MAX_OUTPUT_LINES) return text;
  const kept = keep === "head" ? lines.slice(0, MAX_OUTPUT_LINES) : lines.slice(-MAX_OUTPUT_LINES);
  return kept.join("\n");
}

function keepBytes(text: string, keep: "head" | "tail"): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_OUTPUT_BYTES) return text;
  if (keep === "head") {
    let end = MAX_OUTPUT_BYTES;
    while (isContinuation(bytes[end])) end--;
    return bytes.subarray(0, end).toString();
  }
  let start = bytes.length - MAX_OUTPUT_BYTES;
  while (isContinuation(bytes[start])) start++;
  return bytes.subarray(start).toString();
}

/** The second to fourth bytes of a UTF-8 character have the bits 10xxxxxx. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
