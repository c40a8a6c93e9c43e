import { renderDiff } from "./diff/render-diff.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolContext } from "./tool-look.ts";

/** How many lines a change brought and took: `+3 −1`. */
export function summarizeChange(call: SafeCall): string | undefined {
  if (call.state !== "done") return undefined;
  const [added, removed] = [call.metadataNumber("added"), call.metadataNumber("removed")];
  return added === undefined || removed === undefined ? "unchanged" : `+${added} −${removed}`;
}

/** The difference that a call made, its first lines. */
export function renderChange(call: SafeCall, { width, theme }: ToolContext, maxLines: number): string[] {
  return renderDiff(call.metadataText("diff") ?? "", { width, theme, maxLines, longLines: "cut" });
}

/** The whole difference, or what was asked for where there is none, and what the model was told. */
export function fullChange(call: SafeCall): string {
  return [call.metadataText("diff") ?? call.inputText(2), call.output]
    .filter((text) => text !== "")
    .join("\n");
}
