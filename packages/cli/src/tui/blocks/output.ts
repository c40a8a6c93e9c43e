import { sanitizeTerminalText } from "../../terminal-text.ts";
import { expandTabs } from "../text/expand-tabs.ts";
import { wrapIndented } from "../text/wrap-indented.ts";
import type { BlockContext } from "./block-context.ts";

/** Plain lines that a command of the user's printed. */
export function renderOutput(text: string, { width }: BlockContext): string[] {
  const safe = expandTabs(sanitizeTerminalText(text))
    .replace(/^(?: *\n)+/, "")
    .trimEnd();
  return safe === "" ? [] : safe.split("\n").flatMap((line) => wrapIndented(line, width));
}
