import type { Tool, ToolResult } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { SkillParameters } from "./parameters.ts";

/** The skills of a session. */
export interface SkillSource {
  /**
   * The body of a skill, or those that fit the words best if none is called `name`.
   * @throws Error that says why it cannot be loaded.
   */
  load(name: string, signal: AbortSignal): Promise<ToolResult>;
  /** A file of a skill, as `read` shows it. @throws Error that says why it cannot be read. */
  read(name: string, file: string, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Loads a skill, or a file of it. The directories of skills may be read without approval: the user has trusted or
 * installed them.
 * @param options.runsAlone true if loading may ask the user.
 */
export function createSkillTool(source: SkillSource, { runsAlone = false } = {}): Tool {
  const tool: Tool<SkillParameters> = {
    name: "skill",
    description:
      "Load a skill by its name, or one of its files by the path relative to the skill. Words instead of a name search " +
      "all skills.",
    get parameters() {
      return loadParameters().skillParameters;
    },
    inputSchema: INPUT_SCHEMAS.skill,
    readOnly: true,
    ...(runsAlone && { runsAlone: () => true }),
    approval: () => undefined,
    execute: ({ name, file }, { signal }) =>
      file === undefined || file.trim() === "" ? source.load(name, signal) : source.read(name, file, signal),
  };
  return tool;
}
