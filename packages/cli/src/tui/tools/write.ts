import { formatCount } from "../text/format-amount.ts";
import { renderChange } from "./change.ts";
import { edit } from "./edit.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolLook } from "./tool-look.ts";

const MAX_NEW_LINES = 12;

/** `write src/a.ts · new, 31 lines` and its beginning; as an edit where there was such a file. */
export const write: ToolLook = {
  ...edit,
  summary: (call) => (isNewFile(call) ? summarizeNew(call) : edit.summary?.(call)),
  answer: (call, context) =>
    isNewFile(call) ? renderChange(call, context, MAX_NEW_LINES) : (edit.answer?.(call, context) ?? []),
};

function summarizeNew(call: SafeCall): string {
  const lines = call.metadataNumber("added");
  return lines === undefined ? "new" : `new, ${formatCount(lines, "line")}`;
}

function isNewFile(call: SafeCall): boolean {
  return call.state === "done" && call.hasMark("created");
}
