/** marked-terminal 7.3.1 has no types; these are the parts that are used. */
declare module "marked-terminal" {
  import type { MarkedExtension } from "marked";

  type Paint = (text: string) => string;

  export interface TerminalRendererOptions {
    /** The style of code that is not highlighted. */
    code?: Paint;
    strong?: Paint;
    em?: Paint;
    del?: Paint;
    /** The indentation of code, in columns. */
    tab?: number;
    emoji?: boolean;
    unescape?: boolean;
    reflowText?: boolean;
    showSectionPrefix?: boolean;
  }

  export interface HighlightOptions {
    /** Styles by highlight.js class names, up to their first `-`. */
    theme?: Readonly<Record<string, Paint>>;
    ignoreIllegals?: boolean;
  }

  /**
   * Renders Markdown with escape sequences if its own chalk believes that the process has a terminal with
   * colours.
   */
  export function markedTerminal(
    options?: TerminalRendererOptions,
    highlight?: HighlightOptions,
  ): MarkedExtension;
}
