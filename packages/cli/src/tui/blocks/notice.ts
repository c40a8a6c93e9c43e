import { assertNever, type NoticeLevel } from "@diligent/core/run";
import { sanitizeTerminalText } from "../../terminal-text.ts";
import { wrapText } from "../screen/screen-text.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import type { BlockContext } from "./block-context.ts";

/** A word of the program's: quiet for information, named and coloured for what went wrong. */
export function renderNotice(text: string, level: NoticeLevel, { width, theme }: BlockContext): string[] {
  const safe = expandTabs(sanitizeTerminalText(text)).trim();
  switch (level) {
    case "info":
      return wrapText(theme.dim(safe), width);
    case "warning":
      // Yellow is hard to read on white, so only the word is.
      return wrapText(`${theme.warning(theme.bold("warning:"))} ${safe}`, width);
    case "error":
      return wrapText(theme.error(`${theme.bold("error:")} ${safe}`), width);
    default:
      return assertNever(level);
  }
}
