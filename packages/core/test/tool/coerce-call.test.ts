import { expect, test } from "bun:test";
import { z } from "zod";
import { coerceCall } from "../../src/tool/coerce-call.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import type { Tool } from "../../src/tool/types.ts";
import { createTools } from "../../src/tools/index.ts";
import { createToolWorkspace } from "../support/tool-workspace.ts";

const custom: Tool = {
  name: "Deploy",
  description: "Deploys.",
  parameters: z.strictObject({
    target: z.string(),
    dryRun: z.boolean().optional(),
    hosts: z.array(z.string()).optional(),
    note: z.string().nullable().optional(),
  }),
  execute: async () => ({ output: "" }),
};
const registry = createToolRegistry([...createTools(createToolWorkspace()), custom]);

const coerce = (name: string, input: Record<string, unknown>) => {
  const coerced = coerceCall({ type: "tool_call", id: "1", name, input }, registry);
  return [coerced.name, coerced.input];
};

test.each([
  ["Read", { path: "a.ts", offset: "10", limit: "20" }, "read", { file_path: "a.ts", offset: 10, limit: 20 }],
  ["read_file", { filename: "a.ts" }, "read", { file_path: "a.ts" }],
  ["Bash", { cmd: "ls", timeout: "5000" }, "bash", { command: "ls", timeout: 5_000 }],
  ["bash", { command: "ls", timeout: 9_000_000 }, "bash", { command: "ls", timeout: 600_000 }],
  ["shell", { command: "ls", timeout: null }, "bash", { command: "ls" }],
  [
    "Edit",
    { filePath: "a", oldString: "x", newString: 5, replaceAll: "True" },
    "edit",
    {
      file_path: "a",
      old_string: "x",
      new_string: "5",
      replace_all: true,
    },
  ],
  ["Grep", { regex: "x", "-i": "true" }, "grep", { pattern: "x", "-i": true }],
  ["list_dir", { directory: "src" }, "ls", { path: "src" }],
  [
    "deploy",
    { target: 7, dry_run: "false", hosts: '["a","b"]', note: null },
    "Deploy",
    {
      target: "7",
      dryRun: false,
      hosts: ["a", "b"],
      note: null,
    },
  ],
] as const)("%s %j is converted to our own form", (name, input, expectedName, expected) => {
  expect(coerce(name, input)).toEqual([expectedName, expected]);
});

test.each([
  ["read", { file_path: "a.ts", path: "b.ts" }],
  ["read", { file_path: "a.ts", offset: "ten" }],
  ["read", { file_path: "a.ts", surprise: 1 }],
  ["nothing_like_it", { path: "a" }],
] as const)("%s %j is left unchanged for the strict validation", (name, input) => {
  const call = { type: "tool_call" as const, id: "1", name, input };
  expect(coerceCall(call, registry)).toBe(call);
});

test("a valid call is the same object", () => {
  const call = { type: "tool_call" as const, id: "1", name: "read", input: { file_path: "a.ts", limit: 3 } };
  expect(coerceCall(call, registry)).toBe(call);
});
