import { join } from "node:path";
import { userStateDirectory } from "../../infrastructure/paths/user.ts";
import { startDetached } from "../../infrastructure/process/detached.ts";
import { LoggedOutput } from "../../jobs/job-output.ts";
import type { ToolContext, ToolResult } from "../../tool/types.ts";
import type { BashArguments } from "../bash.ts";
import type { Workspace } from "../workspace.ts";
import { toShellCommand } from "./shell-command.ts";

/**
 * Starts a command that outlives the session, outside any sandbox. @throws Error where that cannot be done, or was not
 * asked for in the right way.
 */
export async function runDetached(
  args: BashArguments,
  workspace: Workspace,
  context: ToolContext,
): Promise<ToolResult> {
  const { jobs, environment, sessionId, sandboxState } = workspace;
  if (args.background !== true || jobs === undefined)
    throw new Error("Not run: detach goes with background: true.");
  const state = await sandboxState?.();
  if (state?.kind === "refused" || (state?.kind === "boxed" && !state.mayLeave))
    throw new Error("Not run: the user's settings do not allow commands outside the sandbox.");
  jobs.assertRoom();
  const stateDirectory = userStateDirectory(environment);
  if (stateDirectory === undefined)
    throw new Error("Not run: there is no home directory to keep the output of a detached command in.");
  workspace.noteUnseen?.({ purpose: "command", command: args.command });
  const comeBack = state?.kind === "boxed" ? state.wrapper.leave() : undefined;
  try {
    const { rest, path } = startDetached({
      ...toShellCommand(args.command, workspace, context),
      directory: join(stateDirectory, "jobs"),
      name: sessionId,
    });
    const job = jobs.add({
      command: args.command,
      rest,
      output: new LoggedOutput(path),
      isUnseen: true,
      isDetached: true,
    });
    return {
      output: `Started job ${job.id}\n[it outlives this session; its output goes to ${path}, and what exceeds 50 MB to files beside it]`,
      metadata: { jobId: job.id, isDetached: true, outputPath: path },
    };
  } finally {
    comeBack?.();
  }
}
