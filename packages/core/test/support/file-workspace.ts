import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { z } from "zod";
import type { Tool, ToolResult } from "../../src/tool/types.ts";
import { createEditTool, createReadTool, createWriteTool } from "../../src/tools/file-tools.ts";
import { createFileTracker, type Workspace } from "../../src/tools/workspace.ts";
import { makeTempDir } from "./temp-dir.ts";

export type FileWorkspace = ReturnType<typeof makeFileWorkspace>;

/** A project in a temporary directory with the three file tools on it. Call inside a test file; it is removed afterwards. */
export function makeFileWorkspace() {
  const root = realpathSync(makeTempDir());
  const workspace: Workspace = {
    cwd: root,
    root,
    files: createFileTracker(),
    outputDirectory: () => undefined,
    environment: { HOME: join(root, "home") },
    sessionId: "test",
  };
  const [readTool, writeTool, editTool] = [
    createReadTool(workspace),
    createWriteTool(workspace),
    createEditTool(workspace),
  ];
  const at = (path: string) => join(root, path);
  return {
    root,
    workspace,
    readTool,
    writeTool,
    editTool,
    at,
    put(path: string, content: string | Uint8Array): string {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      return at(path);
    },
    text: (path: string) => readFileSync(at(path), "utf8"),
    bytes: (path: string) => readFileSync(at(path)),
    read: (args: z.input<typeof readTool.parameters>) => call(readTool, args),
    write: (args: z.input<typeof writeTool.parameters>) => call(writeTool, args),
    edit: (args: z.input<typeof editTool.parameters>) => call(editTool, args),
    /** An edit right after a read, as a model does it. */
    async readAndEdit(file_path: string, old_string: string, new_string: string, replace_all?: boolean) {
      await call(readTool, { file_path });
      return call(editTool, {
        file_path,
        old_string,
        new_string,
        ...(replace_all !== undefined && { replace_all }),
      });
    },
  };
}

/** The output as the model reads it, with the note that follows it. */
async function call<P extends z.ZodObject>(tool: Tool<P>, args: z.input<P>): Promise<ToolResult> {
  const { note, ...result } = await tool.execute(tool.parameters.parse(args), {
    toolCallId: "call_1",
    signal: new AbortController().signal,
    approve: async () => "once",
  });
  return note === undefined ? result : { ...result, output: `${result.output}\n${note}` };
}

/** The message of what a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("It did not fail.");
}
