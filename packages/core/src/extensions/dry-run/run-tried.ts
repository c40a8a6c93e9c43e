import type { ApprovalRequest, ToolContext, ToolResult } from "../../tool/types.ts";
import type { BashArguments } from "../../tools/bash.ts";
import type { Workspace } from "../../tools/workspace.ts";
import { findApplicable } from "./changes.ts";
import { type TriedCommand, tryCommand } from "./try-command.ts";

type TriedArguments = Pick<BashArguments, "command" | "timeout">;

/**
 * Runs a command in a view of the project, shows the user what it would change, and applies that if the user says so.
 * Where nobody can be asked, nothing is applied, and the model gets the differences.
 * @throws Error with a sentence where there is no view, and when the command cannot be started.
 */
export async function runTried(
  args: TriedArguments,
  workspace: Workspace,
  context: ToolContext & { isAttended: boolean },
): Promise<ToolResult> {
  const tried = await tryCommand(args, workspace, context);
  try {
    const { changes, changedMeanwhile } = tried.changes;
    if (changes.length === 0) return toResult(tried, "unchanged");
    if (!context.isAttended || tried.described.applicable === 0 || changedMeanwhile.length > 0)
      return toResult(tried, "shown");
    const answer = await context.decide?.(toRequest(args, tried));
    if (answer === undefined || answer.response === "reject")
      return toResult(tried, "dropped", answer?.message);
    return await apply(tried);
  } finally {
    await tried.drop();
  }
}

async function apply(tried: TriedCommand): Promise<ToolResult> {
  try {
    return toResult(tried, "applied", undefined, await tried.apply());
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const failed = toResult(tried, "shown", problem);
    return { ...failed, isError: true };
  }
}

const MAX_NAMED_FILES = 100;

/** `tried` in its details makes it a question that only a person answers. */
function toRequest(
  { command }: TriedArguments,
  { changes: { changes }, described }: TriedCommand,
): ApprovalRequest {
  const line = command.trim().replace(/\s*\n\s*/g, " ↵ ");
  const applied = findApplicable(changes);
  return {
    permission: "write",
    toolName: "bash",
    description: `apply what was tried: ${line}`,
    details: {
      tried: described.applicableSummary,
      line,
      files: applied.slice(0, MAX_NAMED_FILES).map(({ path }) => ({ path })),
      lines: described.lines,
      diff: described.diff,
    },
  };
}

/** What became of the changes. */
type Outcome = "applied" | "dropped" | "shown" | "unchanged";

const MEANINGS: Readonly<Record<Outcome, string>> = {
  applied: "the command was tried first, and then the user applied its changes to the project",
  dropped: "this was a dry run, and the user did not apply its changes: the project is as it was before",
  shown: "this was a dry run: the project is as it was before, and none of these changes was made",
  unchanged: "this was a dry run, and the command changed nothing",
};

function toResult(
  { result, described, kind }: TriedCommand,
  outcome: Outcome,
  reason?: string,
  notes: readonly string[] = [],
): ToolResult {
  const { summary, applicableSummary, refusals, lines, diff } = described;
  const isShown = outcome === "shown" || outcome === "dropped";
  const changes = isShown
    ? [`Would change: ${summary}`, ...lines, ...(diff === "" ? [] : ["", diff.trimEnd()])]
    : [];
  const { jobId: _, ...metadata } = result.metadata ?? {};
  return {
    ...result,
    output: [
      result.output,
      ...(outcome === "unchanged" ? lines : []),
      ...(isShown ? ["", ...changes, ""] : []),
      ...(outcome === "applied"
        ? [`[applied: ${applicableSummary}]`, ...refusals.map((line) => `[${line}]`)]
        : []),
      ...notes.map((note) => `[${note}]`),
      ...(reason === undefined ? [] : [`[${reason}]`]),
      `[${MEANINGS[outcome]}]`,
    ].join("\n"),
    metadata: { ...metadata, tried: outcome, view: kind },
  };
}
