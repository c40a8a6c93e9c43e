import type { Block } from "./blocks.ts";
import { cutParagraph } from "./markdown/cut-paragraph.ts";
import { findStableEnd } from "./markdown/find-stable-end.ts";
import { findOpenFence, liveTail } from "./markdown/live-tail.ts";
import { loadedMarkdown } from "./markdown/load-markdown.ts";
import { renderMarkdown } from "./markdown/render-markdown.ts";
import { findRowBehind, shownText } from "./markdown/written-rows.ts";
import type { Theme } from "./theme.ts";

type Answer = Extract<Block, { type: "answer" }>;

interface Look {
  width: number;
  theme: Theme;
}

/** How far the open block of an answer is written. */
interface Written {
  /** The Markdown that is written, from the block's beginning. */
  source: string;
  /** What is before this place in it is not laid out any more. */
  start: number;
  /** The fence that is open there. */
  opening: string;
  /** How many characters of `shownText` are written of what is laid out. */
  shown: number;
}

interface LaidOut {
  laidOut: string;
  end: number;
  look: Look;
}

const NOTHING: Written = { source: "", start: 0, opening: "", shown: 0 };

// More than this is not laid out with every frame.
const MAX_WRITTEN_CHARS = 8_000;
// So much more has to be there of a paragraph before it is looked at again.
const NEXT_WORDS_CHARS = 100;
const TOP_ITEM = /^(?:[-*+]|\d{1,9}[.)])[ \t]/;

/**
 * Writes the open block of an answer while it grows: complete lines of code, complete items of a list and the first rows
 * of a long paragraph go into the scrollback at once. So what is redrawn stays small, and a change of the screen's size finds little that is not final.
 */
export class OpenAnswer {
  private written = NOTHING;
  /** What was last looked at, be it for nothing. */
  private looked = "";

  /** The block as it is to be shown: without what is written of it, and not more than a screen has room for. */
  show(block: Answer): Answer {
    const rest = this.hasPart(block) ? this.restOf(block) : block;
    return { ...rest, markdown: liveTail(rest.markdown) };
  }

  /** The rows of the block that have become final since the last time; none of them is shown again. */
  write(block: Answer, look: Look): string[] {
    // The answer began anew.
    if (!this.hasPart(block)) this.written = NOTHING;
    const { start, opening } = this.written;
    const laidOut = opening + block.markdown.slice(start);
    const end = findStableEnd(laidOut);
    if (!loadedMarkdown()) return [];
    return end > 0 ? this.writeLines(block, { laidOut, end, look }) : this.writeWords(block, laidOut, look);
  }

  private writeLines(block: Answer, { laidOut, end, look }: LaidOut): string[] {
    const { source, start, opening, shown } = this.written;
    const stable = laidOut.slice(0, end);
    if (end <= opening.length + source.length - start || stable === this.looked) return [];
    this.looked = stable;
    const head = shownText(renderMarkdown(stable, look));
    const rows = renderMarkdown(laidOut, look);
    const first = shown === 0 ? 0 : findRowBehind(rows, shown);
    const last = findRowBehind(rows, head.length);
    if (head.length <= shown || shownText(rows.slice(0, last)) !== head) return [];
    const written = { source: block.markdown.slice(0, start + end - opening.length), start, opening };
    this.written = { ...written, shown: head.length };
    return [...rows.slice(first, last), ...this.restart(block)];
  }

  /** Of a long paragraph. */
  private writeWords({ markdown }: Answer, laidOut: string, look: Look): string[] {
    const { start, opening, shown } = this.written;
    const isLooked =
      laidOut.startsWith(this.looked) && laidOut.length < this.looked.length + NEXT_WORDS_CHARS;
    if (opening !== "" || shown > 0 || isLooked) return [];
    this.looked = laidOut;
    const cut = cutParagraph(laidOut, (text) => renderMarkdown(text, look));
    if (cut === undefined) return [];
    const source = markdown.slice(0, start + cut.at);
    this.written = { ...NOTHING, source, start: source.length };
    return cut.rows;
  }

  /** Blocks that are finished, the open one among them without what is written of it. */
  finish(blocks: readonly Block[], look: Look): Block[] {
    return blocks.map((block) => (block.type === "answer" ? this.finishAnswer(block, look) : block));
  }

  private finishAnswer(block: Answer, { width, theme }: Look): Answer {
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

  /** Of a long block the written part is laid out no more where the rest is the same without it; the rows between them. */
  private restart({ markdown }: Answer): string[] {
    const { source, start, opening } = this.written;
    if (source.length - start < MAX_WRITTEN_CHARS) return [];
    const open = findOpenFence(opening + source.slice(start));
    if (open === "" && !TOP_ITEM.test(markdown.slice(source.length))) return [];
    this.written = { source, start: source.length, opening: open, shown: 0 };
    return /\n[ \t]*\n$/.test(source) ? [""] : [];
  }
}
