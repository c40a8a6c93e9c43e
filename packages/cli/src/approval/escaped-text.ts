import { escapeCharacter, isHiddenCharacter, revealTerminalText } from "../text/terminal-text.ts";

// Longer runs would push text out of sight: half a line of a common terminal, a few lines, a handful of escapes.
const MAX_BLANK_COLUMNS = 40;
const MAX_BLANK_LINES = 3;
const MAX_REPEATED = 8;
const TAB_COLUMNS = 8;

// More kinds than this in one place are counted together.
const MAX_KINDS = 4;

/**
 * Escapes text for an approval decision: everything is shown, invisible characters as escapes, long runs of blanks as a
 * placeholder such as `⟦5000 spaces⟧` or `⟦200 blank lines⟧`. Placeholder brackets and their look-alikes in the text
 * itself are escaped, so placeholders cannot be forged.
 */
export function escapeText(text: string): string {
  return groupLines(text.split("\n")).map(formatGroup).join("\n");
}

/** The same on one line, with line ends escaped: for names. */
export function escapeLine(text: string): string {
  return formatLine(text).replaceAll("\n", escapeCharacter("\n"));
}

/** A placeholder of ours within foreign text, such as `12 lines omitted`. */
export function formatMark(content: string): string {
  return `⟦${content}⟧`;
}

/** True if formatted text contains a placeholder. */
export function hasMark(formatted: string): boolean {
  return formatted.includes("⟦");
}

const BRACKETS = /[\u27e6-\u27ef\u2983-\u2998\u301a\u301b\uff5f\uff60]/g;

interface LineGroup {
  lines: string[];
  isBlank: boolean;
}

function groupLines(lines: readonly string[]): LineGroup[] {
  const groups: LineGroup[] = [];
  for (const line of lines) {
    const isBlank = isBlankLine(line);
    const last = groups.at(-1);
    if (last?.isBlank === isBlank) last.lines.push(line);
    else groups.push({ lines: [line], isBlank });
  }
  return groups;
}

function formatGroup({ lines, isBlank }: LineGroup): string {
  if (!isBlank || lines.length <= MAX_BLANK_LINES) return lines.map(formatLine).join("\n");
  const content = lines.join("");
  const inThem = content === "" ? "" : ` with ${describeCharacters(content)} in them`;
  return formatMark(`${lines.length} blank lines${inThem}`);
}

/** Runs of blanks and of a repeated invisible character. */
const RUNS = new RegExp(
  `[ \\t]{${MAX_BLANK_COLUMNS / TAB_COLUMNS},}|([^ \\t\\n])\\1{${MAX_REPEATED},}`,
  "gu",
);

function formatLine(line: string): string {
  let shown = "";
  let from = 0;
  for (const { 0: run, 1: repeated, index } of line.matchAll(RUNS)) {
    const isMarked =
      repeated === undefined ? columnsOf(run) > MAX_BLANK_COLUMNS : isHiddenCharacter(repeated);
    if (!isMarked) continue;
    shown += reveal(line.slice(from, index)) + formatMark(describeCharacters(run));
    from = index + run.length;
  }
  return shown + reveal(line.slice(from));
}

function reveal(text: string): string {
  return revealTerminalText(text).replace(BRACKETS, escapeCharacter);
}

function isBlankLine(line: string): boolean {
  for (const character of line) if (!isUnseen(character)) return false;
  return true;
}

function isUnseen(character: string): boolean {
  return character === " " || character === "\t" || isHiddenCharacter(character);
}

function columnsOf(blanks: string): number {
  return blanks.length + (TAB_COLUMNS - 1) * (blanks.split("\t").length - 1);
}

function describeCharacters(text: string): string {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const kinds = [...counts].slice(0, MAX_KINDS).map(([character, count]) => describeCount(character, count));
  const rest = [...counts].slice(MAX_KINDS).reduce((sum, [, count]) => sum + count, 0);
  return [...kinds, ...(rest > 0 ? [`${rest} other invisible characters`] : [])].join(" and ");
}

function describeCount(character: string, count: number): string {
  if (character === " ") return count === 1 ? "1 space" : `${count} spaces`;
  if (character === "\t") return count === 1 ? "1 tab" : `${count} tabs`;
  return `${count} × ${escapeCharacter(character)}`;
}
