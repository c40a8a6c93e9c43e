import type { Tool } from "../tool/types.ts";
import { type BashToolOptions, createBashTool } from "./bash.ts";
import { createEditTool, createReadTool, createWriteTool } from "./file-tools.ts";
import { createJobTools } from "./job-tools.ts";
import { createApplyPatchTool } from "./patch-tool.ts";
import { createGlobTool, createGrepTool, createLsTool } from "./search-tools.ts";
import type { Workspace } from "./workspace.ts";

export { type AddKnowledgeOptions, createAddKnowledgeTool } from "./add-knowledge.ts";
export { type AskUser, createAskUserTool } from "./ask-user.ts";
export { createRecallTool, type EarlierSessions, type RecallSource } from "./recall.ts";
export { createSkillTool, type SkillSource } from "./skill.ts";
export { createTodoTool } from "./todo.ts";
export { createWebFetchTool } from "./web-fetch.ts";

/** Which of the tools the model is told of. */
export interface ToolOptions extends BashToolOptions {
  /**
   * True while the model is one that knows `apply_patch`, which then takes the place of `edit` and `write`, which can
   * still be called. Without this function there is no such tool.
   */
  offersPatches?: () => boolean;
  /** See `OfferOptions`. */
  isBrief?: boolean;
}

/** The tools of a session, in the order of their definitions for the model. */
export function createTools(workspace: Workspace, options: ToolOptions = {}): Tool[] {
  const { offersPatches, isBrief } = options;
  const offer = { isBrief, isOffered: offersPatches && (() => !offersPatches()) };
  return [
    createReadTool(workspace, { isBrief }),
    createLsTool(workspace),
    createGlobTool(workspace),
    createGrepTool(workspace),
    createEditTool(workspace, offer),
    createWriteTool(workspace, offer),
    ...(offersPatches ? [createApplyPatchTool(workspace, { isOffered: offersPatches })] : []),
    createBashTool(workspace, options),
    ...createJobTools(workspace, options),
  ];
}
