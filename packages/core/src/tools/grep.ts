import type { z } from "zod";
import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { GrepParameters } from "./parameters.ts";
import { createSearchGate } from "./search/search-gate.ts";
import type { Workspace } from "./workspace.ts";

/** The arguments of a call, as `grepParameters` lets them through. */
export type GrepArguments = z.output<GrepParameters>;

/** Searches the content of files with ripgrep. */
export function createGrepTool(workspace: Workspace): Tool<GrepParameters> {
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
    get parameters() {
      return loadParameters().grepParameters;
    },
    inputSchema: INPUT_SCHEMAS.grep,
    readOnly: true,
    approval: gate.approval,
    async execute(args, context) {
      const { grepFiles } = await import("./search/grep-files.ts");
      return grepFiles(workspace, { args, target: await gate.locate(args), context });
    },
  };
}
