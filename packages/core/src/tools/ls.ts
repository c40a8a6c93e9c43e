import type { z } from "zod";
import type { Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { LsParameters } from "./parameters.ts";
import { createSearchGate } from "./search/search-gate.ts";
import type { Workspace } from "./workspace.ts";

/** Lists one directory: directories first, links with their targets, files with their sizes. */
export function createLsTool(workspace: Workspace): Tool<LsParameters> {
  const placeOf = ({ path }: z.output<LsParameters>) => path || ".";
  const gate = createSearchGate(workspace, { toolName: "ls", placeOf, describe: placeOf });
  return {
    name: "ls",
    description: "Lists one directory, hidden entries included. To find files by name use glob.",
    get parameters() {
      return loadParameters().lsParameters;
    },
    inputSchema: INPUT_SCHEMAS.ls,
    readOnly: true,
    approval: gate.approval,
    async execute(args, context) {
      const { listDirectory } = await import("./search/list-directory.ts");
      return listDirectory(workspace, await gate.locate(args), context);
    },
  };
}
