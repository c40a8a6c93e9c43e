import { LineStyle } from "./line-style.ts";

const BLANKS = /^ *$/;

/** Gathers the text of a line with its looks, in as few bytes as they take. */
export class LineText {
  private text = "";
  /** What the sequences so far ask for, and what has been written of it. */
  private readonly style = new LineStyle();
  private written = new LineStyle();
  private isStyleNew = false;

  /** Takes in one whole SGR or OSC 8 sequence. */
  addStyle(sequence: string): void {
    this.style.apply(sequence);
    this.isStyleNew = true;
  }

  addText(text: string): void {
    if (this.isStyleNew) this.changeStyle(text);
    this.text += text;
  }

  /** The whole line, everything closed; blanks at its end are left out where nobody would see them. */
  finish(): { text: string; trimmed: number } {
    const text = this.written.isSeenOnBlanks ? this.text : withoutTrailingSpaces(this.text);
    return { text: text + this.written.closing(), trimmed: this.text.length - text.length };
  }

  private changeStyle(text: string): void {
    const isSeen = this.style.isSeenOnBlanks || this.written.isSeenOnBlanks || !BLANKS.test(text);
    if (!isSeen) return;
    this.text += this.style.changeFrom(this.written);
    this.written = this.style.copy();
    this.isStyleNew = false;
  }
}

/** Wider blanks stay: they are text. */
export function withoutTrailingSpaces(text: string): string {
  return text.endsWith(" ") ? text.replace(/ +$/, "") : text;
}
