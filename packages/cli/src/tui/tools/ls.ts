import { listNames, summarizeFound } from "./found.ts";
import { namedPath } from "./named-path.ts";
import type { ToolLook } from "./tool-look.ts";

/** `ls src · 12 entries` and the first of them. */
export const ls: ToolLook = {
  title: (call, context) => (call.text("path") ? namedPath(call, "path", context) : "."),
  summary: (call) =>
    call.metadataNumber("count") === 0 ? "empty" : summarizeFound(call, "entry", "entries"),
  answer: listNames,
};
