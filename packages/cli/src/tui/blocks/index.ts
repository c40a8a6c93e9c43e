import { assertNever } from "@diligent/core/run";
import type { Block } from "../blocks.ts";
import { renderMarkdown } from "../markdown/render-markdown.ts";
import { fitLine, wrapText } from "../screen/screen-text.ts";
import { formatCount } from "../text/format-amount.ts";
import { renderToolCall } from "../tools/index.ts";
import type { BlockContext } from "./block-context.ts";
import { renderChange } from "./change.ts";
import { renderNotice } from "./notice.ts";
import { renderOutput } from "./output.ts";
import { renderPrompt } from "./prompt.ts";
import { renderThinking } from "./thinking.ts";

/**
 * A block of the transcript as lines of at most `width` columns, safe for a terminal and each with its own looks; none for
 * a block without content. Blank lines between blocks are not its own.
 */
export function renderBlock(block: Block, context: BlockContext): string[] {
  return renderContent(block, context).map((line) => fitLine(line, context.width));
}

/** Blocks one below the other, with a blank line behind each that has content. */
export function renderBlocks(blocks: readonly Block[], context: BlockContext): string[] {
  return blocks.flatMap((block) => {
    const lines = renderBlock(block, context);
    return lines.length === 0 ? [] : [...lines, ""];
  });
}

function renderContent(block: Block, context: BlockContext): string[] {
  switch (block.type) {
    case "prompt":
      return renderPrompt(block.text, context);
    case "answer":
      return renderMarkdown(block.markdown, context);
    case "thinking":
      return renderThinking(block, context);
    case "tool":
      return renderToolCall(block.call, context);
    case "notice":
      return renderNotice(block.text, block.level, context);
    case "output":
      return renderOutput(block.text, context);
    case "change":
      return renderChange(block, context);
    case "resumed":
      return renderResumed(block.hiddenMessages, context);
    default:
      return assertNever(block);
  }
}

function renderResumed(hiddenMessages: number, { width, theme }: BlockContext): string[] {
  const text = `… ${formatCount(hiddenMessages, "message")} above; /tree or diligent sessions show`;
  return wrapText(theme.dim(text), width);
}
