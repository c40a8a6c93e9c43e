// A large screen shows ten thousand characters; what is above them is not laid out anew with every frame.
const MAX_CHARS = 16_000;
const SHOWN_CHARS = 12_000;
// So that lines are not broken elsewhere with every word that comes.
const STEP_CHARS = 2_000;

/** Of the open end of an answer as much as a screen can show, beginning with a line where there is one. */
export function liveTail(markdown: string): string {
  if (markdown.length <= MAX_CHARS) return markdown;
  const start = Math.floor((markdown.length - SHOWN_CHARS) / STEP_CHARS) * STEP_CHARS;
  const lineEnd = markdown.indexOf("\n", start);
  const at = lineEnd < 0 || lineEnd > start + STEP_CHARS ? start : lineEnd + 1;
  return findOpenFence(markdown.slice(0, at)) + markdown.slice(at);
}

/** The line that begins the code which the text ends in, with its line feed; empty where it ends in none. */
export function findOpenFence(text: string): string {
  let open: { line: string; fence: string } | undefined;
  for (const [line, fence = "", info = ""] of text.matchAll(FENCE)) {
    const isEnd = open !== undefined && fence.startsWith(open.fence) && info.trim() === "";
    if (open === undefined) open = { line, fence };
    else if (isEnd) open = undefined;
  }
  return open === undefined ? "" : `${open.line}\n`;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm;
