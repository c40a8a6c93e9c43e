import { join } from "node:path";
import { executeToolCall } from "../../src/tool/execute.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import { createEditTool, createReadTool, createWriteTool } from "../../src/tools/file-tools.ts";
import { createFileTracker } from "../../src/tools/workspace.ts";

/**
 * One of several processes that change one file: each counts its own line up, with the tool that is named, and tries again
 * where it is told that the file has changed. Arguments: directory, tool, name of the line, how often.
 */
const [root = "", tool, name, times] = process.argv.slice(2);
const workspace = {
  root,
  cwd: root,
  files: createFileTracker(),
  outputDirectory: () => undefined,
  environment: {},
  sessionId: "test",
};
const tools = createToolRegistry([
  createReadTool(workspace),
  createEditTool(workspace),
  createWriteTool(workspace),
]);
const path = join(root, "counts.txt");

async function call(toolName: string, input: Record<string, unknown>): Promise<string | undefined> {
  const { message } = await executeToolCall(
    { type: "tool_call", id: "call_1", name: toolName, input },
    tools,
    {
      signal: new AbortController().signal,
      decide: async () => ({ response: "once" }),
    },
  );
  return message.isError ? message.output : undefined;
}

for (let count = 0; count < Number(times); ) {
  await call("read", { file_path: path });
  const before = `${name}: ${count}\n`;
  const after = `${name}: ${count + 1}\n`;
  const text = await Bun.file(path).text();
  if (!text.includes(before)) throw new Error(`${before.trim()} is lost:\n${text}`);
  const problem =
    tool === "edit"
      ? await call("edit", { file_path: path, old_string: before, new_string: after })
      : await call("write", { file_path: path, content: text.replace(before, after) });
  if (problem === undefined) count += 1;
  else if (!problem.includes("has changed")) throw new Error(problem);
}
