import type { Tool } from "../tool/types.ts";
import { createBashTool } from "./bash.ts";
import { createEditTool } from "./edit.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { createLsTool } from "./ls.ts";
import { createReadTool } from "./read.ts";
import type { Workspace } from "./workspace.ts";
import { createWriteTool } from "./write.ts";

export { type AddKnowledgeOptions, createAddKnowledgeTool } from "./add-knowledge.ts";

/** The tools of a session, in the order the model is told about them. */
export function createTools(workspace: Workspace): Tool[] {
  return [
    createReadTool(workspace),
    createLsTool(workspace),
    createGlobTool(workspace),
    createGrepTool(workspace),
    createEditTool(workspace),
    createWriteTool(workspace),
    createBashTool(workspace),
  ];
}
