import { toSingleLine } from "../../terminal-text.ts";
import { keyTexts } from "../keys/key-texts.ts";
import type { Keymap } from "../keys/keymap.ts";
import { fitLine } from "../screen/screen-text.ts";
import type { Theme } from "../theme.ts";
import type { View } from "../view.ts";

const MAX_SHOWN = 3;

/** The messages that wait for the model, one line each. */
export function queuedLines(
  queued: View["queued"],
  { width, theme, keymap }: { width: number; theme: Theme; keymap: Keymap },
): string[] {
  if (queued.length === 0) return [];
  const lines = queued
    .slice(-MAX_SHOWN)
    .map(({ text }) => theme.dim(fitLine(`  queued: ${toSingleLine(text, width)}`, width)));
  const hidden = queued.length - lines.length;
  const above = hidden > 0 ? [theme.dim(`  … ${hidden} more queued`)] : [];
  const key = keyTexts(keymap, [["app.takeBack", "takes the last one back"]]);
  return [...above, ...lines, ...(key === "" ? [] : [theme.dim(fitLine(`  ${key}`, width))])];
}
