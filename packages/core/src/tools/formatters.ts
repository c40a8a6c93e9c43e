import type { Tool } from "../tool/types.ts";
import type { Workspace } from "./workspace.ts";

/** A program that formats the files with certain extensions. */
export interface Formatter {
  name: string;
  /** A program with its arguments; `$FILE` stands for the file, which otherwise is the last argument. */
  command: readonly string[];
  /** Such as `.ts`. */
  extensions: readonly string[];
}

const CHANGING_TOOLS: ReadonlySet<string> = new Set(["edit", "write", "apply_patch"]);

/** Lets formatters run on the files that a call of these tools has changed; its result says what they changed. */
export function attachFormatters(
  tools: Tool[],
  workspace: Workspace,
  formatters: readonly Formatter[],
): Tool[] {
  if (formatters.length === 0) return tools;
  for (const tool of tools) {
    if (!CHANGING_TOOLS.has(tool.name)) continue;
    const { execute } = tool;
    tool.execute = async (args, context) => {
      // What other calls have changed is not this one's.
      workspace.files.takeModified();
      const result = await execute.call(tool, args, context);
      const paths = workspace.files.takeModified();
      if (result.isError || paths.length === 0) return result;
      const { formatFiles } = await import("./edit/format-files.ts");
      const report = await formatFiles(paths, { workspace, formatters, context });
      return report === "" ? result : { ...result, output: `${result.output}\n${report}` };
    };
  }
  return tools;
}
