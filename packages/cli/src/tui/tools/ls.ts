import { listFound, summarizeFound } from "./found.ts";
import { showPath } from "./show-path.ts";
import type { ToolLook } from "./tool-look.ts";

/** `ls src · 12 entries` and the first of them. */
export const ls: ToolLook = {
  title: (call, context) => (call.text("path") ? showPath(call, "path", context) : "."),
  summary: (call) =>
    call.metadataNumber("count") === 0 ? "empty" : summarizeFound(call, "entry", "entries"),
  answer: listFound,
};
