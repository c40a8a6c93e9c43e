import { describeSearch, listNames, summarizeFound } from "./found.ts";
import type { ToolLook } from "./tool-look.ts";

/** `glob src/**\/*.ts · 12 files` and the first of them. */
export const glob: ToolLook = {
  title: describeSearch,
  summary: (call) => summarizeFound(call, "file"),
  answer: listNames,
};
