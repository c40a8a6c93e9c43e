import { toToolDefinition } from "../tool/registry.ts";
import type { Tool } from "../tool/types.ts";
import type { ToolDefinition } from "../types.ts";

/** The tools as a model is told about them. */
export function describeTools(tools: readonly Tool[]): ToolDefinition[] {
  return tools.map(toToolDefinition);
}
