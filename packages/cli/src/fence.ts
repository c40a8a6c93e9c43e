/** A text as a Markdown code block, in a fence that nothing in it can end. */
export function fence(text: string): string {
  const mark = "`".repeat(Math.max(3, longestRun(text) + 1));
  const lineEnd = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${mark}\n${text}${lineEnd}${mark}`;
}

/** A text as Markdown code within a line. */
export function codeSpan(text: string): string {
  const mark = "`".repeat(longestRun(text) + 1);
  return `${mark} ${text.replaceAll("\n", " ")} ${mark}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
