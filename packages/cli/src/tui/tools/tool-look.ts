import type { Theme } from "../theme.ts";
import type { SafeCall } from "./safe-call.ts";

/** Where a call is shown. */
export interface ToolContext {
  width: number;
  theme: Theme;
  /** Milliseconds, of the clock that the call was started by. */
  now: number;
  /** Paths below it are shown without it. */
  cwd?: string | undefined;
}

/** What a tool's look is given: `width` is that of the lines below the title. */
export interface LookContext extends ToolContext {
  /** Columns for the title; a longer one is cut. */
  titleColumns: number;
}

/**
 * How the calls of one tool look. The frame around it (the mark, the name, the time, live output, errors) is the same for
 * all; widths are cared for there too. Every text comes from a `SafeCall`.
 */
export interface ToolLook {
  /** What was asked; it is shown on one line behind the tool's name. */
  title(call: SafeCall, context: LookContext): string;
  /** More of what was asked, below the title. */
  question?(call: SafeCall, context: LookContext): string[];
  /** What came of it in a few words, once it is done or has failed. */
  summary?(call: SafeCall): string | undefined;
  /** What came of it, below; for a call that is done, and for a failed one where `showsFailure`. */
  answer?(call: SafeCall, context: LookContext): string[];
  /** True where `answer` shows what went wrong better than the first lines of the error. */
  showsFailure?(call: SafeCall): boolean;
  /** Everything for the pager; the arguments and the output when left out. */
  fullText?(call: SafeCall): string;
}
