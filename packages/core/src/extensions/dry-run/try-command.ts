import type { ToolContext, ToolResult } from "../../tool/types.ts";
import type { BashArguments } from "../../tools/bash.ts";
import { runShell } from "../../tools/shell/run-shell.ts";
import type { Workspace } from "../../tools/workspace.ts";
import { applyChanges, ProjectChangedError } from "./apply.ts";
import { findTriedChanges, type TriedChanges } from "./changes.ts";
import { type DescribedChanges, describeTriedChanges } from "./describe-changes.ts";
import { openProjectView, type ProjectView, UnavailableError, type ViewKind } from "./view.ts";

/** What a command did in a view of the project. */
export interface TriedCommand {
  /** Its output and exit code. */
  result: ToolResult;
  kind: ViewKind;
  changes: TriedChanges;
  described: DescribedChanges;
  /** Makes the changes in the project. @throws Error with a sentence; nothing has changed then. */
  apply(): Promise<readonly string[]>;
  /** Removes the view; nothing can be applied then. */
  drop(): Promise<void>;
}

/**
 * Runs a command in a view of the project and compares it with the project. Background processes are ended first.
 * @throws UnavailableError where there is no view, and Error when the command cannot be started.
 */
export async function tryCommand(
  { command, timeout }: Pick<BashArguments, "command" | "timeout">,
  workspace: Workspace,
  context: ToolContext & { kinds?: readonly ViewKind[] },
): Promise<TriedCommand> {
  const { environment, root, outputDirectory } = workspace;
  const view = await openProjectView({
    state: await workspace.sandboxState?.(),
    environment,
    root,
    directory: outputDirectory(),
    signal: context.signal,
    kinds: context.kinds,
  });
  try {
    const result = await runInView({ command, timeout }, view, { workspace, context });
    const layers = await view.endProcesses();
    const access = await workspace.protectedAccess?.();
    const changes = findTriedChanges({ layers, madeAtNs: view.madeAtNs, access });
    const described = await describeTriedChanges(changes, { root, connections: view.connections });
    return {
      ...{ result, kind: view.kind, changes, described },
      apply: () => view.guard(access, () => applyChanges(changes)),
      drop: () => view.remove(),
    };
  } catch (error) {
    await view.remove();
    throw error;
  }
}

function runInView(
  args: Pick<BashArguments, "command" | "timeout">,
  { wrapper }: ProjectView,
  { workspace, context }: { workspace: Workspace; context: ToolContext },
): Promise<ToolResult> {
  const state = { kind: "boxed", wrapper, mayLeave: false } as const;
  // It is ended with the view: nothing of it may become a job.
  const { jobs: _, ...rest } = workspace;
  return runShell(args, { ...rest, sandboxState: async () => state }, context);
}

export { ProjectChangedError, UnavailableError };
