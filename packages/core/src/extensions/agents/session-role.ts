import type { Tool } from "../../tool/types.ts";
import { type AgentDefinition, selectTools } from "./definition.ts";

/** What a session takes from the definition of an agent: of a sub-agent, or of the one as which it works itself. */
export interface SessionRole {
  /** Replaces diligent's own and the configured system prompt. */
  basePrompt?: string | undefined;
  /** A section of the system prompt. */
  section?: string | undefined;
  maxTurns: number | undefined;
  /** Those of the offered tools that it has. @throws Error for the model if it has none. */
  selectTools(tools: readonly Tool[]): Tool[];
  /** True if the definition leaves it a tool of this name. */
  mayUse(toolName: string): boolean;
}

/** The role that a definition describes. */
export function toSessionRole(definition: AgentDefinition): SessionRole {
  return {
    ...toPrompt(definition),
    maxTurns: definition.maxTurns,
    selectTools: (tools) => selectRoleTools(definition, tools),
    mayUse: (toolName) => selectTools(definition.tools, [toolName]).has(toolName),
  };
}

function toPrompt({ prompt, extendsBase }: AgentDefinition): Pick<SessionRole, "basePrompt" | "section"> {
  if (prompt === "") return {};
  return extendsBase ? { section: prompt } : { basePrompt: prompt };
}

function selectRoleTools(definition: AgentDefinition, tools: readonly Tool[]): Tool[] {
  const names = selectTools(
    definition.tools,
    tools.map(({ name }) => name),
  );
  const selected = tools.filter(
    ({ name, readOnly }) => names.has(name) && (readOnly || !definition.isReadOnly),
  );
  if (selected.some(({ name }) => name !== "recall")) return selected;
  const wanted = definition.tools.allowed?.join(", ");
  throw new Error(
    `The sub-agent ${definition.name} has none of the tools of this session${wanted ? `: it asks for ${wanted}` : ""}. Use another one.`,
  );
}
