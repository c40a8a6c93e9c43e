import type { Tool } from "../tool/types.ts";
import { createBashTool } from "./bash.ts";
import { createEditTool, createReadTool, createWriteTool } from "./file-tools.ts";
import { createJobTools, type JobToolOptions } from "./job-tools.ts";
import { createGlobTool, createGrepTool, createLsTool } from "./search-tools.ts";
import type { Workspace } from "./workspace.ts";

export { type AddKnowledgeOptions, createAddKnowledgeTool } from "./add-knowledge.ts";
export { createRecallTool, type RecallSource } from "./recall.ts";

/** The tools of a session, in the order of their definitions for the model. */
export function createTools(workspace: Workspace, jobOptions?: JobToolOptions): Tool[] {
  return [
    createReadTool(workspace),
    createLsTool(workspace),
    createGlobTool(workspace),
    createGrepTool(workspace),
    createEditTool(workspace),
    createWriteTool(workspace),
    createBashTool(workspace, jobOptions),
    ...createJobTools(workspace, jobOptions),
  ];
}
