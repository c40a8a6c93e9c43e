/** marked-terminal 7.3.1 brings no types; these are the parts that are used. */
declare module "marked-terminal" {
  import type { MarkedExtension } from "marked";

  type Paint = (text: string) => string;

  export interface TerminalRendererOptions {
    /** The look of code that is not highlighted. */
    code?: Paint;
    strong?: Paint;
    em?: Paint;
    del?: Paint;
    /** Columns that code is indented by. */
    tab?: number;
    emoji?: boolean;
    unescape?: boolean;
    reflowText?: boolean;
    showSectionPrefix?: boolean;
  }

  export interface HighlightOptions {
    /** By highlight.js' names of what a piece of code is, up to their first `-`. */
    theme?: Readonly<Record<string, Paint>>;
    ignoreIllegals?: boolean;
  }

  /** Renders Markdown with escape sequences, when its own chalk thinks that the process has a terminal with colours. */
  export function markedTerminal(
    options?: TerminalRendererOptions,
    highlight?: HighlightOptions,
  ): MarkedExtension;
}
