import type { ToolDefinition } from "../types.ts";
import type { Tool } from "./types.ts";

/** The tools of one run: their definitions for the model, and the tools by name. */
export interface ToolRegistry {
  definitions: readonly ToolDefinition[];
  names: readonly string[];
  find(name: string): Tool | undefined;
  /** The JSON Schema of a tool's arguments. */
  schemaOf(name: string): Record<string, unknown> | undefined;
}

/** @throws Error when two tools share a name. */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`Two tools are called "${tool.name}".`);
    byName.set(tool.name, tool);
  }
  const definitions = tools.map(toToolDefinition);
  const isConditional = tools.some(({ isOffered }) => isOffered !== undefined);
  return {
    get definitions() {
      return isConditional ? definitions.filter(({ name }) => isOffered(byName.get(name))) : definitions;
    },
    names: [...byName.keys()],
    find: (name) => byName.get(name) ?? findOther(tools, name),
    schemaOf: (name) => definitions.find((definition) => definition.name === name)?.inputSchema,
  };
}

function findOther(tools: readonly Tool[], name: string): Tool | undefined {
  for (const tool of tools) {
    const found = tool.findOther?.(name);
    if (found) return found;
  }
  return undefined;
}

/** False for a tool that is currently not offered to the model. */
export function isOffered(tool: Tool | undefined): boolean {
  return tool?.isOffered?.() ?? true;
}

/** The definition of a tool for the model; its schema is generated from the parameters unless the tool provides one. */
export function toToolDefinition(tool: Tool): ToolDefinition {
  const { name, description, inputSchema = toInputSchema(tool), isDeferred } = tool;
  return { name, description, inputSchema, ...(isDeferred && { isDeferred }) };
}

/** Arguments with a default are not required in the JSON Schema. */
export function toInputSchema({ parameters }: Pick<Tool, "parameters">): Record<string, unknown> {
  const { $schema: _, ...inputSchema } = parameters.toJSONSchema({ io: "input" });
  return inputSchema;
}
