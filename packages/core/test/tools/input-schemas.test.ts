import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { INPUT_SCHEMAS_PATH, makeInputSchemas } from "../../scripts/write-input-schemas.ts";
import { toToolDefinition } from "../../src/tool/registry.ts";
import type { Tool } from "../../src/tool/types.ts";

test("the generated schemas match the parameters; otherwise run packages/core/scripts/write-input-schemas.ts", () => {
  const told: unknown = JSON.parse(readFileSync(INPUT_SCHEMAS_PATH, "utf8"));
  // As text: another order of the fields would be another request.
  expect(JSON.stringify(told)).toBe(JSON.stringify(makeInputSchemas()));
});

const parameters = z.strictObject({ path: z.string(), depth: z.int().min(1).max(9).default(2) });

const tool: Tool<typeof parameters> = {
  name: "walk",
  description: "Walks.",
  parameters,
  execute: async () => ({ output: "" }),
};

test("a tool without a generated schema is described by its parameters, with defaults optional", () => {
  expect(toToolDefinition(tool)).toEqual({
    name: "walk",
    description: "Walks.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        depth: { type: "integer", minimum: 1, maximum: 9, default: 2 },
      },
      required: ["path"],
      additionalProperties: false,
    },
  });
});

test("describing a tool with a generated schema does not load its parameters", () => {
  const untouched: Tool = {
    ...tool,
    get parameters(): never {
      throw new Error("touched");
    },
    inputSchema: { type: "object" },
  };
  expect(toToolDefinition(untouched).inputSchema).toEqual({ type: "object" });
});
