import type { Theme } from "../theme.ts";

/** How the prompt editor looks; each function styles a text of one line without changing its width. */
export interface PromptTheme {
  /** `> ` before the text, `$ ` before a command for the shell, and the arrows that tell of more above and below. */
  marker(text: string): string;
  /** What stands for something else, such as `[pasted 120 lines]`. */
  label(text: string): string;
  /** The row of the completion list that Enter takes. */
  selected(text: string): string;
  /** What the completion list tells beside a name. */
  description(text: string): string;
}

/** How it looks on a screen of that theme. */
export function toPromptTheme({ accent, dim, selected }: Theme): PromptTheme {
  return { marker: accent, label: dim, selected, description: dim };
}
