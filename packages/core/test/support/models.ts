import type { Model, ToolDefinition } from "../../src/provider/types.ts";

export const TEST_MODEL: Model = {
  id: "test-model",
  provider: "anthropic",
  contextWindow: 200_000,
  maxOutputTokens: 8_000,
  thinking: "none",
};

export const READ_TOOL: ToolDefinition = {
  name: "read",
  description: "Reads a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
};
