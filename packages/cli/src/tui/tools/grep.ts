import { describeSearch, listFound, listNames, summarizeFound } from "./found.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolLook } from "./tool-look.ts";

/** `grep readToken in src · 12 files` and the first of them. */
export const grep: ToolLook = {
  title: describeSearch,
  summary: (call) => summarizeFound(call, findsLines(call) ? "line" : "file"),
  answer: (call, context) => (findsLines(call) ? listFound : listNames)(call, context),
};

function findsLines(call: SafeCall): boolean {
  return call.text("output_mode") === "content";
}
