import { type HeldTexts, type Holding, holdText, releaseText, releaseVisibleText } from "./held-text.ts";
import { takePaste } from "./pasted-text.ts";
import { readTypedText } from "./typed-text.ts";

/**
 * Keeps what an editor's text only stands for. Everything that comes from outside goes through it on the way in, and on the
 * way out it gives back what the text means.
 */
export class TextHolder {
  private held: HeldTexts = [];

  /** The text as it may be put into the editor. */
  hold(text: string): string {
    return this.keep(holdText(this.held, text));
  }

  /** What a paste adds to the text `shown`; long ones are a label there. */
  holdPaste(data: string, shown: string): string {
    return this.keep(takePaste(this.held, data, shown));
  }

  /** What a key writes, which is nothing for some; undefined for one that is safe to be pressed in the editor. */
  holdKey(data: string): string | undefined {
    const typed = readTypedText(data);
    if (typed === undefined || typed === "") return typed;
    const shown = this.hold(typed);
    return shown === typed ? undefined : shown;
  }

  /** The whole of what the editor's text means. */
  release(shown: string): string {
    return releaseText(this.held, shown);
  }

  /** As `release`, but that long pastes are blanks. */
  releaseVisible(shown: string): string {
    return releaseVisibleText(this.held, shown);
  }

  private keep({ text, held }: Holding): string {
    this.held = held;
    return text;
  }
}
