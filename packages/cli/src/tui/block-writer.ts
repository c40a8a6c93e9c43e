import type { BlockContext } from "./blocks/block-context.ts";
import { type BlockEnd, renderBlocks } from "./blocks/index.ts";
import type { Block } from "./blocks.ts";
import { OpenAnswer } from "./open-answer.ts";

/** Turns blocks into the rows of the transcript, each of which is written once and for ever. */
export class BlockWriter {
  private readonly answer = new OpenAnswer();
  private above: BlockEnd = "none";

  /** What the rows written last belong to; the live region stands below them. */
  get end(): BlockEnd {
    return this.above;
  }

  /** The rows of blocks that are finished, without what has been written of them. */
  writeFinished(blocks: readonly Block[], context: BlockContext): readonly string[] {
    const finished = this.answer.finish(blocks, context);
    const { lines, end } = renderBlocks(finished, context, this.above);
    this.above = end;
    return lines;
  }

  /** The rows of what has become final of an answer that is still coming. */
  writeOpen(live: readonly Block[], look: Pick<BlockContext, "width" | "theme">): readonly string[] {
    // Nothing may overtake what stands above it.
    const [block] = live;
    if (block?.type !== "answer") return [];
    const rows = this.answer.write(block, look);
    if (rows.length === 0) return rows;
    const isApart = this.above !== "none" && this.above !== "open";
    this.above = "open";
    return isApart ? ["", ...rows] : rows;
  }

  /** Live blocks as they are to be drawn: without what is written of an answer that is still coming. */
  withoutWritten(live: readonly Block[]): Block[] {
    return live.map((block) => (block.type === "answer" ? this.answer.show(block) : block));
  }
}
