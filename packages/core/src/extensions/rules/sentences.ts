import type { Sentence } from "./types.ts";

/** Headings and lines above a list that make each of its items a prohibition. */
const FORBIDS =
  /^(?:never(?: ever)?|do not|don'?ts?|must not|you must not|forbidden|prohibited|not allowed|what not to do|avoid|things (?:to avoid|you must never do)|never do (?:this|these|any of these)|do not do (?:this|these)|hard no'?s?|off[- ]limits)(?: (?:do|do this|do any of the following|the following|commands|actions))?[:.!]*$/i;

interface Block {
  text: string;
  /** The line of each character. */
  lines: number[];
  indent: number;
  isItem: boolean;
  isQuoted: boolean;
  heading: string;
}

/** The sentences of a Markdown text, in its order. Code blocks, comments, tables and headings are no sentences. */
export function readSentences(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  const leads: { indent: number; text: string }[] = [];
  for (const block of readBlocks(text)) {
    while (leads.length > 0 && !isBelow(block, leads.at(-1))) leads.pop();
    const lead =
      leads.at(-1)?.text ?? (block.isItem && FORBIDS.test(block.heading) ? block.heading : undefined);
    let before: string | undefined;
    for (const { text: sentence, line } of splitSentences(block)) {
      sentences.push({
        text: sentence,
        line,
        isQuoted: block.isQuoted,
        ...(lead !== undefined && { lead }),
        ...(before !== undefined && { before }),
      });
      before = sentence;
    }
    if (/:\s*$/.test(block.text))
      leads.push({ indent: block.isItem ? block.indent + 1 : block.indent, text: lastClause(block.text) });
  }
  return sentences;
}

/** A list below a line with a colon, or deeper items below such an item. */
function isBelow(block: Block, lead: { indent: number } | undefined): boolean {
  return block.isItem && lead !== undefined && block.indent >= lead.indent;
}

function lastClause(text: string): string {
  const clean = withoutEmphasis(text);
  return clean.slice(clean.search(/[^.!?]*$/)).trim() || clean.trim();
}

/** Control characters that no text needs. */
const INVISIBLE = /(?![\t\n])\p{Cc}/gu;

function readBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let current: Block | undefined;
  let heading = "";
  let fence: string | undefined;
  let isComment = false;
  const lines = Bun.stripANSI(text).replace(/\r\n?/g, "\n").replace(INVISIBLE, "").split("\n");
  const frontMatterEnd = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  for (const [index, raw] of lines.entries()) {
    const line = index + 1;
    if (index <= frontMatterEnd) continue;
    const fenceMark = /^\s*(?:>\s*)?(`{3,}|~{3,})/.exec(raw)?.[1];
    if (fence !== undefined) {
      if (fenceMark?.startsWith(fence)) fence = undefined;
      else addFencedLine(blocks, raw, line);
      continue;
    }
    if (fenceMark !== undefined) {
      fence = fenceMark;
      current = undefined;
      continue;
    }
    const visible = removeComments(raw, isComment);
    isComment = visible.isOpen;
    const quote = /^\s*(?:>\s?)+/.exec(visible.text)?.[0];
    const body = quote === undefined ? visible.text : visible.text.slice(quote.length);
    const title = /^#{1,6}\s+(.*?)\s*#*$/.exec(body)?.[1];
    if (title !== undefined) heading = withoutEmphasis(title).trim();
    // Four spaces after an empty line are code, but the second paragraph of an item has them, too.
    const isCode = current === undefined && /^(?: {4}|\t)/.test(body) && !blocks.at(-1)?.isItem;
    if (title !== undefined || isCode || body.trim() === "" || /^\s*\|.*\|\s*$/.test(body)) {
      current = undefined;
      continue;
    }
    const item = /^(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/.exec(body);
    if (item || current === undefined || current.isQuoted !== (quote !== undefined)) {
      const indent = item?.[1]?.replaceAll("\t", "    ").length ?? 0;
      current = {
        ...{ text: "", lines: [], indent, isItem: item !== null },
        ...{ isQuoted: quote !== undefined, heading },
      };
      blocks.push(current);
    }
    append(current, item ? body.slice(item[0].length) : body.trim(), line);
  }
  return blocks;
}

/** A command in a code block below `Before committing, run:` is part of that sentence. */
function addFencedLine(blocks: Block[], raw: string, line: number): void {
  const above = blocks.at(-1);
  const command = raw
    .replace(/\s+#.*$/, "")
    .replace(/^\s*\$\s+/, "")
    .trim();
  if (!above || command === "" || command.startsWith("#") || command.includes("`")) return;
  if (!/:\s*$|: `[^`]*`(?: and `[^`]*`)*$/.test(above.text) || !/\b(?:run|execute|use)\b/i.test(above.text))
    return;
  append(above, `${/`$/.test(above.text) ? "and " : ""}\`${command}\``, line);
}

function append(block: Block, text: string, line: number): void {
  const added = block.text === "" ? text : ` ${text}`;
  block.text += added;
  for (let index = 0; index < added.length; index++) block.lines.push(line);
}

function removeComments(line: string, isOpen: boolean): { text: string; isOpen: boolean } {
  let text = "";
  let rest = line;
  let open = isOpen;
  while (rest !== "") {
    const mark = open ? "-->" : "<!--";
    const at = rest.indexOf(mark);
    if (!open) text += at < 0 ? rest : rest.slice(0, at);
    if (at < 0) break;
    rest = rest.slice(at + mark.length);
    open = !open;
  }
  return { text, isOpen: open };
}

const ABBREVIATION = /(?:\be\.g|\bi\.e|\betc|\bvs|\bcf|\bno)\.$/i;

function splitSentences({ text, lines }: Block): { text: string; line: number }[] {
  const found: { text: string; line: number }[] = [];
  let start = 0;
  let isCode = false;
  const push = (end: number) => {
    const raw = text.slice(start, end);
    const lead = raw.length - raw.trimStart().length;
    const clean = withoutEmphasis(raw).trim();
    if (/\p{L}/u.test(clean)) found.push({ text: clean, line: lines[start + lead] ?? 0 });
    start = end;
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === "`") isCode = !isCode;
    if (isCode) continue;
    if (/[。！？]/.test(char)) push(at + 1);
    if (!/[.!?;]/.test(char)) continue;
    // The end may be followed by marks that close a quotation or an emphasis.
    const closing = /^[)"'”’*_]*/.exec(text.slice(at + 1))?.[0] ?? "";
    const next = text[at + 1 + closing.length];
    if (next !== undefined && !/\s/.test(next)) continue;
    if (char === "." && ABBREVIATION.test(text.slice(0, at + 1))) continue;
    push(at + 1 + closing.length);
  }
  push(text.length);
  return found;
}

/** Without the marks of emphasis and links, with plain apostrophes; code stays as it is. */
function withoutEmphasis(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith("`")
        ? part
        : part
            .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
            .replace(/\*\*|__|~~/g, "")
            .replace(/’/g, "'")
            .replace(/(^|[\s("'])[*_](?=\S)/g, "$1")
            .replace(/(\S)[*_](?=$|[\s.,;:!?)"'])/g, "$1"),
    )
    .join("")
    .replace(/\s+/g, " ");
}
