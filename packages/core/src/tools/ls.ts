import { z } from "zod";
import type { Tool } from "../tool/types.ts";
import { createSearchGate } from "./search/search-gate.ts";
import type { Workspace } from "./workspace.ts";

const parameters = z.strictObject({ path: z.string().optional() });

/** Lists one directory: directories first, links with their targets, files with their sizes. */
export function createLsTool(workspace: Workspace): Tool<typeof parameters> {
  const placeOf = ({ path }: z.output<typeof parameters>) => path || ".";
  const gate = createSearchGate(workspace, { toolName: "ls", placeOf, describe: placeOf });
  return {
    name: "ls",
    description: "Lists one directory, hidden entries included. To find files by name use glob.",
    parameters,
    readOnly: true,
    approval: gate.approval,
    async execute(args, context) {
      const { listDirectory } = await import("./search/list-directory.ts");
      return listDirectory(workspace, await gate.locate(args), context);
    },
  };
}
