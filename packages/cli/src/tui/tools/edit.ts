import { fullChange, renderChange, summarizeChange } from "./change.ts";
import { namedPath } from "./named-path.ts";
import type { ToolLook } from "./tool-look.ts";

const MAX_DIFF_LINES = 40;

/** `edit src/a.ts · +3 −1` and the difference. */
export const edit: ToolLook = {
  title: (call, context) => namedPath(call, "file_path", context),
  summary: summarizeChange,
  answer: (call, context) => renderChange(call, context, MAX_DIFF_LINES),
  fullText: fullChange,
};
