import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import type { Tool, ToolContext, ToolResult } from "../../src/tool/types.ts";
import { createFileTracker, type Workspace } from "../../src/tools/workspace.ts";
import { makeTempDir } from "./temp-dir.ts";

/** A workspace in a fresh directory, with an output directory beside it. */
export function createToolWorkspace(changes: Partial<Workspace> = {}): Workspace {
  const top = makeTempDir();
  const root = join(top, "project");
  const outputs = join(top, "outputs");
  mkdirSync(root);
  mkdirSync(outputs);
  return {
    cwd: root,
    root,
    files: createFileTracker(),
    outputDirectory: () => outputs,
    environment: { PATH: process.env.PATH, HOME: top, LANG: "C.UTF-8" },
    sessionId: "20260225103000-abcdef",
    ...changes,
  };
}

/** Runs a tool the way the framework does: arguments through the schema, then asking, then execution. */
export async function runTool<P extends z.ZodObject>(
  tool: Tool<P>,
  input: unknown,
  context: Partial<ToolContext> = {},
): Promise<ToolResult> {
  const args = tool.parameters.parse(input);
  tool.approval?.(args);
  return tool.execute(args, {
    toolCallId: "call_1",
    signal: new AbortController().signal,
    approve: async () => "once",
    ...context,
  });
}
