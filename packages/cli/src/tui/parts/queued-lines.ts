import { toSingleLine } from "../../terminal-text.ts";
import { fitLine } from "../screen/screen-text.ts";
import type { Theme } from "../theme.ts";

const MAX_SHOWN = 3;

/** The messages that wait for the model, one line each. */
export function queuedLines(
  queued: readonly string[],
  { width, theme }: { width: number; theme: Theme },
): string[] {
  if (queued.length === 0) return [];
  const lines = queued
    .slice(-MAX_SHOWN)
    .map((text) => theme.dim(fitLine(`  queued: ${toSingleLine(text, width)}`, width)));
  const hidden = queued.length - lines.length;
  const above = hidden > 0 ? [theme.dim(`  … ${hidden} more queued`)] : [];
  return [...above, ...lines, theme.dim(fitLine("  Alt+Up takes the last one back", width))];
}
