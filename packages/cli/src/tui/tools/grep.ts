import { describeSearch, listFound, summarizeFound } from "./found.ts";
import type { ToolLook } from "./tool-look.ts";

/** `grep readToken in src · 12 files` and the first of them. */
export const grep: ToolLook = {
  title: describeSearch,
  summary: (call) => summarizeFound(call, call.text("output_mode") === "content" ? "line" : "file"),
  answer: listFound,
};
