import type { Tool, ToolContext } from "../tool/types.ts";
import type { FileChange, FileTracker } from "./workspace.ts";

/** The call that has changed files. */
export type ChangeContext = Pick<ToolContext, "toolCallId" | "signal">;

/**
 * Looks at the files that a call has changed; what it resolves with is added to the result for the model. The file may
 * have been changed again by an earlier observer.
 */
export type ChangeObserver = (
  changes: readonly FileChange[],
  context: ChangeContext,
) => Promise<string | undefined>;

const CHANGING_TOOLS: ReadonlySet<string> = new Set(["edit", "write", "apply_patch"]);

/**
 * Lets observers look at the files that a call of these tools has changed, one after the other. What they say is also
 * the `report` of the result's metadata.
 */
export function observeChanges(
  tools: Tool[],
  files: FileTracker,
  observers: readonly ChangeObserver[],
): Tool[] {
  for (const tool of tools) {
    if (!CHANGING_TOOLS.has(tool.name)) continue;
    const { execute } = tool;
    tool.execute = async (args, context) => {
      // What other calls have changed is not this one's.
      files.takeModified();
      const result = await execute.call(tool, args, context);
      const changes = files.takeModified();
      if (result.isError || changes.length === 0) return result;
      const reports: string[] = [];
      for (const observe of observers) {
        const report = await observe(changes, context);
        if (report) reports.push(report);
      }
      if (reports.length === 0) return result;
      const report = reports.join("\n");
      const metadata = { ...result.metadata, report };
      return { ...result, output: `${result.output}\n${report}`, metadata };
    };
  }
  return tools;
}
