import { assertNever } from "@diligent/core/run";
import { type Block, isCallBlock } from "../blocks.ts";
import { renderMarkdown } from "../markdown/render-markdown.ts";
import { findRowBehind } from "../markdown/written-rows.ts";
import { fitLine, wrapText } from "../screen/screen-text.ts";
import { formatCount } from "../text/format-amount.ts";
import { renderCallBlock } from "../tools/index.ts";
import type { BlockContext } from "./block-context.ts";
import { renderChangeBlock } from "./change.ts";
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

/** What the last block above ends with: nothing yet, a tool call of one line, the part of an open answer that is written, or anything else. */
export type BlockEnd = "none" | "call" | "open" | "other";

/** The lines of blocks with those between them, and what they end with for whatever comes below. */
export interface PlacedBlocks {
  lines: string[];
  end: BlockEnd;
}

/**
 * Blocks one below the other, with a blank line in front of each that has content and stands below another one; calls of
 * one line stand together.
 * @param above what they stand below.
 */
export function renderBlocks(
  blocks: readonly Block[],
  context: BlockContext,
  above: BlockEnd = "none",
): PlacedBlocks {
  let end = above;
  const lines = blocks.flatMap((block) => {
    const own = renderBlock(block, context);
    if (own.length === 0) return [];
    const isTogether = end === "call" && isOneLineCall(block, own);
    const isContinued = end === "open" && block.type === "answer" && block.written !== undefined;
    const isFirst = end === "none" || isContinued;
    end = isOneLineCall(block, own) ? "call" : "other";
    return isFirst || isTogether ? own : ["", ...own];
  });
  return { lines, end };
}

function isOneLineCall(block: Block, lines: readonly string[]): boolean {
  return isCallBlock(block) && lines.length === 1;
}

function renderContent(block: Block, context: BlockContext): string[] {
  switch (block.type) {
    case "prompt":
      return renderPrompt(block.text, context);
    case "answer":
      return renderAnswer(block, context);
    case "thinking":
      return renderThinking(block, context);
    case "tool":
    case "shell":
      return renderCallBlock(block, context);
    case "notice":
      return renderNotice(block.text, block.level, context);
    case "output":
      return renderOutput(block.text, context);
    case "change":
      return renderChangeBlock(block, context);
    case "resumed":
      return renderResumed(block.hiddenMessages, context);
    default:
      return assertNever(block);
  }
}

function renderAnswer(
  { markdown, written = 0 }: Extract<Block, { type: "answer" }>,
  context: BlockContext,
): string[] {
  const rows = renderMarkdown(markdown, context);
  return written === 0 ? rows : rows.slice(findRowBehind(rows, written));
}

function renderResumed(hiddenMessages: number, { width, theme }: BlockContext): string[] {
  const text = `… ${formatCount(hiddenMessages, "message")} above; /tree or diligent sessions show`;
  return wrapText(theme.dim(text), width);
}
