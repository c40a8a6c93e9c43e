import { type BlockEnd, renderBlocks } from "./blocks/render-blocks.ts";
import type { BlockContext } from "./blocks/tool-call.ts";
import { loadedMarkdown, renderMarkdown } from "./markdown/render.ts";
import {
  cutParagraph,
  findOpenFence,
  findRowBehind,
  findStableEnd,
  liveTail,
  shownText,
} from "./markdown/stream.ts";
import type { Theme } from "./theme.ts";
import type { Block } from "./view.ts";

/** Turns blocks into rows of the transcript. Each row is written exactly once. */
export class BlockWriter {
  private readonly answer = new OpenAnswer();
  private above: BlockEnd = "none";

  /** What the last written rows belong to; the live region is below them. */
  get end(): BlockEnd {
    return this.above;
  }

  /** The rows of finished blocks, except those already written. */
  writeFinished(blocks: readonly Block[], context: BlockContext): readonly string[] {
    const finished = this.answer.finish(blocks, context);
    const { lines, end } = renderBlocks(finished, context, this.above);
    this.above = end;
    return lines;
  }

  /** The rows of a streaming answer that have become final. */
  writeOpen(live: readonly Block[], style: OpenStyle): readonly string[] {
    // Nothing may overtake a block above it.
    const [block] = live;
    if (block?.type !== "answer") return [];
    const rows = this.answer.write(block, style);
    if (rows.length === 0) return rows;
    const isApart = this.above !== "none" && this.above !== "open";
    this.above = "open";
    return isApart ? ["", ...rows] : rows;
  }

  /** The live blocks to draw: without the rows of a streaming answer that are already written. */
  withoutWritten(live: readonly Block[]): Block[] {
    return live.map((block) => (block.type === "answer" ? this.answer.show(block) : block));
  }
}

type Answer = Extract<Block, { type: "answer" }>;

interface RenderStyle {
  width: number;
  theme: Theme;
}

/** How the open block is laid out; `rows` is the height of the screen. */
interface OpenStyle extends RenderStyle {
  rows: number;
}

/** How much of the open block of an answer is written. */
interface Written {
  /** The Markdown that is written, from the beginning of the block. */
  source: string;
  /** Text before this offset is no longer laid out. */
  start: number;
  /** The code fence that is open there. */
  opening: string;
  /** How many characters of the laid-out text are written, as counted by `shownText`. */
  shown: number;
}

interface LaidOut {
  laidOut: string;
  end: number;
  style: OpenStyle;
}

const NOTHING: Written = { source: "", start: 0, opening: "", shown: 0 };

// More than this is not laid out with every frame.
const MAX_WRITTEN_CHARS = 600;
// A paragraph is examined again only after it has grown by this many characters and by this share of its
// length. The total time then grows linearly with the length.
const NEXT_WORDS_CHARS = 30;
const NEXT_WORDS_PART = 0.25;
const TOP_ITEM = /^(?:([-*+])|\d{1,9}([.)]))[ \t]/;
const TOP_ITEMS = new RegExp(TOP_ITEM.source, "gm");

/**
 * Writes the open block of an answer while it grows: complete lines of code, complete list items and the
 * first rows of a long paragraph go into the scrollback at once. The redrawn part stays small, so a resize
 * finds few rows that are not final.
 */
export class OpenAnswer {
  private written = NOTHING;
  /** The text that was examined last, whether or not it was divided. */
  private examined = "";

  /** The block to show: without its written part, and not longer than a screen. */
  show(block: Answer): Answer {
    const rest = this.hasPart(block) ? this.restOf(block) : block;
    return { ...rest, markdown: liveTail(rest.markdown) };
  }

  /** The rows of the block that have become final since the last call; none of them is drawn again. */
  write(block: Answer, style: OpenStyle): string[] {
    // The answer restarted.
    if (!this.hasPart(block)) this.written = NOTHING;
    const { start, opening } = this.written;
    const laidOut = opening + block.markdown.slice(start);
    const end = findStableEnd(laidOut);
    if (!loadedMarkdown()) return [];
    return end > 0 ? this.writeLines(block, { laidOut, end, style }) : this.writeWords(block, laidOut, style);
  }

  private writeLines(block: Answer, { laidOut, end, style }: LaidOut): string[] {
    const { source, start, opening, shown } = this.written;
    const stable = laidOut.slice(0, end);
    if (end <= opening.length + source.length - start || stable === this.examined) return [];
    this.examined = stable;
    const head = shownText(renderMarkdown(stable, style));
    const rows = renderMarkdown(laidOut, style);
    const first = shown === 0 ? 0 : findRowBehind(rows, shown);
    const last = findRowBehind(rows, head.length);
    if (head.length <= shown || shownText(rows.slice(0, last)) !== head) return [];
    const written = { source: block.markdown.slice(0, start + end - opening.length), start, opening };
    this.written = { ...written, shown: head.length };
    return [...rows.slice(first, last), ...this.restart(block, style)];
  }

  /** Writes the first rows of a long paragraph. */
  private writeWords({ markdown }: Answer, laidOut: string, style: OpenStyle): string[] {
    const { start, opening, shown } = this.written;
    const { length } = this.examined;
    const next = length + Math.max(NEXT_WORDS_CHARS, length * NEXT_WORDS_PART);
    const isExamined = laidOut.length < next && laidOut.startsWith(this.examined);
    if (opening !== "" || shown > 0 || isExamined) return [];
    this.examined = laidOut;
    const cut = cutParagraph(laidOut, style.rows, (text) => renderMarkdown(text, style));
    if (cut === undefined) return [];
    const source = markdown.slice(0, start + cut.at);
    this.written = { ...NOTHING, source, start: source.length };
    return cut.rows;
  }

  /** Finished blocks; the open one among them without its written part. */
  finish(blocks: readonly Block[], style: RenderStyle): Block[] {
    return blocks.map((block) => (block.type === "answer" ? this.finishAnswer(block, style) : block));
  }

  private finishAnswer(block: Answer, { width, theme }: RenderStyle): Answer {
    const { source, start, opening, shown } = this.written;
    if (source === "") return block;
    if (this.hasPart(block)) {
      const rest = this.restOf(block);
      this.written = NOTHING;
      return rest;
    }
    const { length } = block.markdown;
    if (!source.startsWith(block.markdown)) return block;
    const part = opening + block.markdown.slice(start);
    const partShown = start < length ? shownText(renderMarkdown(part, { width, theme })).length : 0;
    const from = Math.max(0, start - length);
    this.written = {
      source: source.slice(length),
      start: from,
      opening: from > 0 ? opening : "",
      shown: Math.max(0, shown - partShown),
    };
    return { ...block, markdown: "", written: 0 };
  }

  private hasPart({ markdown }: Answer): boolean {
    return markdown.startsWith(this.written.source);
  }

  private restOf(block: Answer): Answer {
    const { source, start, opening, shown } = this.written;
    if (source === "") return block;
    return { ...block, markdown: opening + block.markdown.slice(start), written: shown };
  }

  /**
   * Stops laying out the written part of a long block if the rest looks the same without it. Returns the rows
   * between the two parts.
   */
  private restart({ markdown }: Answer, style: OpenStyle): string[] {
    const { source, start, opening } = this.written;
    const { length } = source;
    if (length - start < MAX_WRITTEN_CHARS) return [];
    const laidOut = opening + source.slice(start);
    const open = findOpenFence(laidOut);
    if (open === "" && !continuesList(laidOut, markdown.slice(length))) return [];
    const context = open === "" ? findSpacing(laidOut) : "";
    // The spacing of a list depends on all its items, so the last ones stay as context.
    const shown = context === "" ? 0 : shownText(renderMarkdown(context, style)).length;
    this.written = { source, start: length - context.length, opening: open, shown };
    return context === "" && /\n[ \t]*\n$/.test(source) ? [""] : [];
  }
}

/** The last items of a spaced list, as many as show the spacing; empty for a list without blank lines. */
function findSpacing(list: string): string {
  const isSpaced = (text: string) => /\n[ \t]*\n/.test(text.trimEnd());
  if (!isSpaced(list)) return "";
  const starts = Array.from(list.matchAll(TOP_ITEMS), ({ index }) => index);
  const from = starts.findLast((at) => isSpaced(list.slice(at)));
  return list.slice(from ?? 0);
}

/** True if `rest` starts with an item of the list that `written` ends with; another bullet would start another list. */
function continuesList(written: string, rest: string): boolean {
  const [last, next] = [[...written.matchAll(TOP_ITEMS)].at(-1), TOP_ITEM.exec(rest)];
  return last !== undefined && next !== null && last[1] === next[1] && last[2] === next[2];
}
