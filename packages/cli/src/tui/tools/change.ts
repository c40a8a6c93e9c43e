import { renderDiff } from "./diff/render-diff.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolContext } from "./tool-look.ts";

/** How many lines a change brought and took: `+3 −1`; of a call of an earlier session it is not known. */
export function summarizeChange(call: SafeCall): string | undefined {
  if (call.state !== "done") return undefined;
  const [added, removed] = [call.metadataNumber("added"), call.metadataNumber("removed")];
  if (added !== undefined && removed !== undefined) return `+${added} −${removed}`;
  return call.hasMark("unchanged") ? "unchanged" : undefined;
}

// Enough for what a person wrote; of what a program wrote nobody reads more.
const MAX_ROWS_PER_LINE = 3;

/** The difference that a call made, its first lines. */
export function renderChange(call: SafeCall, { width, theme }: ToolContext, maxLines: number): string[] {
  const diff = call.metadataText("diff") ?? "";
  return renderDiff(diff, { width, theme, maxLines, maxRowsPerLine: MAX_ROWS_PER_LINE });
}

/** The whole difference, or what was asked for where there is none, and what the model was told. */
export function fullChange(call: SafeCall): string {
  return [call.metadataText("diff") ?? call.inputText(2), call.output]
    .filter((text) => text !== "")
    .join("\n");
}
