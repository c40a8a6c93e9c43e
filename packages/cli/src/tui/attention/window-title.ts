import type { View } from "../view.ts";
import { POP_TITLE, PUSH_TITLE, titleSequence, titleState, titleText } from "./terminal-title.ts";

/** Whose title it is, and whether it is written at all. */
export interface TitleSettings {
  project: string;
  isShown: boolean;
}

/** The terminal's title as it was last written. Each method returns what is to be written, which is often nothing. */
export class WindowTitle {
  private settings: TitleSettings = { project: "", isShown: false };
  private text = "";

  /** To be called between `leave` and `enter`, which writes the title of the view. */
  configure(settings: TitleSettings, view: View): void {
    this.settings = settings;
    this.text = this.textOf(view);
  }

  /** The terminal has been taken. */
  enter(): string {
    return this.settings.isShown ? PUSH_TITLE + titleSequence(this.text) : "";
  }

  /** The terminal is about to be given back. */
  leave(): string {
    // A terminal without a stack goes back to its usual title for an empty one.
    return this.settings.isShown ? titleSequence("") + POP_TITLE : "";
  }

  /** The view has changed. */
  update(view: View): string {
    const text = this.textOf(view);
    if (!this.settings.isShown || text === this.text) return "";
    this.text = text;
    return titleSequence(text);
  }

  private textOf(view: View): string {
    return titleText(this.settings.project, titleState(view));
  }
}
