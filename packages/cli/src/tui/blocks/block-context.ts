import type { ToolContext } from "../tools/tool-look.ts";

/** Where a block is shown: columns, looks, the time, and the working directory. */
export type BlockContext = ToolContext;
