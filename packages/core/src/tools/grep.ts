import { z } from "zod";
import type { Tool } from "../tool/types.ts";
import { createSearchGate } from "./search/search-gate.ts";
import type { Workspace } from "./workspace.ts";

/** What is found is sorted before it is cut, so more is taken than shown; beyond this the search is stopped. */
export const MAX_COLLECTED = 20_000;

const flag = () => z.boolean().optional();
const contextLines = () => z.int().min(0).max(1_000).optional();

const parameters = z.strictObject({
  pattern: z.string().min(1).describe("Regular expression"),
  path: z.string().optional().describe("File or directory"),
  glob: z.string().optional().describe("Such as *.{ts,tsx}"),
  type: z.string().optional().describe("Such as py"),
  output_mode: z.enum(["files_with_matches", "content", "count"]).optional(),
  "-i": flag().describe("Ignore case"),
  "-n": flag().describe("Line numbers, default true"),
  "-A": contextLines(),
  "-B": contextLines(),
  "-C": contextLines(),
  multiline: flag().describe("Matches may span lines"),
  head_limit: z.int().min(0).max(MAX_COLLECTED).optional().describe("Most lines to show"),
});

export type GrepArguments = z.output<typeof parameters>;

/** Searches the content of files with ripgrep. */
export function createGrepTool(workspace: Workspace): Tool<typeof parameters> {
  const gate = createSearchGate<GrepArguments>(workspace, {
    toolName: "grep",
    placeOf: ({ path }) => path || ".",
    describe: ({ pattern, path }) => `${pattern}${path ? ` in ${path}` : ""}`,
  });
  return {
    name: "grep",
    description:
      "Searches file contents with ripgrep; lists the files that match unless output_mode says otherwise. " +
      "Leaves out what .gitignore names, and files for keys and passwords, such as .env, unless path is one.",
    parameters,
    readOnly: true,
    approval: gate.approval,
    async execute(args, context) {
      const { grepFiles } = await import("./search/grep-files.ts");
      return grepFiles(workspace, { args, target: await gate.locate(args), context });
    },
  };
}
