import { toSingleLine } from "../../text/terminal-text.ts";
import { renderCallBlock } from "../blocks/tool-renderers.ts";
import type { CommandContext } from "../commands/types.ts";
import { createTheme } from "../theme.ts";
import type { ExpandableBlock, Status } from "../view.ts";
import { createChoice, type Picker } from "./picker.ts";

const LABEL_COLUMNS = 100;

/** Thoughts and calls, the newest first; the chosen one is shown in full. */
export function expandPicker(blocks: readonly ExpandableBlock[], context: CommandContext): Picker {
  const { status } = context.view();
  const choices = blocks.toReversed().map((block) => ({
    label: titleOf(block, status),
    async run() {
      const { showInFull } = await import("../pager.ts");
      await showInFull(block, context);
    },
  }));
  return createChoice("expand", "Show in full", choices);
}

/** The first line of its block in the transcript. */
function titleOf(block: ExpandableBlock, { cwd, renderers }: Pick<Status, "cwd" | "renderers">): string {
  if (block.type === "thinking") return `Thinking: ${toSingleLine(block.text.trim(), LABEL_COLUMNS)}`;
  const context = { width: LABEL_COLUMNS, theme: createTheme({ color: false }), now: 0, cwd, renderers };
  return renderCallBlock(block, context)[0] ?? block.call.toolName;
}
